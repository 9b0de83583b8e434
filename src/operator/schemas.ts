// The schemas of bodies and query parameters that only the operator's API has. An error message completes the sentence
// `"<field>" …`.

import { z } from 'zod';
import { NAME_LENGTH_MAX } from '../core/limits.ts';
import { READERS_MAX } from '../core/plans.ts';
import { waitSeconds } from '../http/schema/schema-parts.ts';
import { pageQuerySchema } from '../http/schema/schemas.ts';

const READERS_MESSAGE = `must be a whole number from 0 to ${READERS_MAX}, or "auto"`;

/** Control characters (Cc): C0, DEL and C1. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

const codePoints = (text: string): number => [...text].length;
const isPlainText = (text: string): boolean => !CONTROL.test(text) && text.isWellFormed();

const plainText = (lengthMin: 0 | 1) =>
  z
    .string('must be a string')
    .refine(
      (text) => codePoints(text) >= lengthMin && codePoints(text) <= NAME_LENGTH_MAX && isPlainText(text),
      `must have ${lengthMin === 0 ? 'up' : '1'} to ${NAME_LENGTH_MAX} characters, none of them a control character or a lone surrogate`,
    );

export const tenantName = plainText(1);
/** A part of a tenant's name or id; empty: all of them. */
export const tenantSearch = plainText(0);

export const planName = z.string('must be a string');
export const tenantReaders = z.union(
  [z.int(READERS_MESSAGE).min(0, READERS_MESSAGE).max(READERS_MAX, READERS_MESSAGE), z.literal('auto')],
  READERS_MESSAGE,
);

/** ISO 8601 in UTC; becomes milliseconds since the Unix epoch. */
export const timestamp = z.iso
  .datetime('must be a timestamp in UTC such as 2030-01-31T12:00:00.000Z')
  .transform((text) => Date.parse(text));

/** Documentation of query parameters that several operations have. */
export const PARAMETERS = {
  cursor: { description: 'The `next_cursor` of the previous page of the same query.' },
  subject: { description: 'Only grants of this subject.', part: 'SubjectIdentifier' },
  object: { description: 'Only grants on this object.', part: 'ObjectIdentifier' },
  since: { description: 'Only what came at this time or later.' },
  action: { description: 'Only changes with this action.' },
  format: { description: 'The form of the body.' },
} as const;

/** A time, or only what comes from now on. */
export const sinceOrNow = z
  .union([z.literal('now'), timestamp], 'must be "now", or a timestamp in UTC')
  .meta(PARAMETERS.since)
  .optional();

export const wait = waitSeconds('How many seconds to wait if there is nothing to return.').default(0);

/** Query parameters of a listing. */
export const pageShape = {
  limit: pageQuerySchema.shape.limit,
  cursor: z.string().meta(PARAMETERS.cursor).optional(),
};
