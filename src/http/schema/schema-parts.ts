// What the schemas of both interfaces are built from. Objects that clients send refuse a member that they do not know;
// objects that the service sends stay open, so that later versions may add members.

import { z } from 'zod';
import {
  FEED_WAIT_SECONDS_MAX,
  FILTER_LENGTH_MAX,
  FILTER_NAMES_MAX,
  filterFault,
  isPair,
} from '../../core/change-feed.ts';
import { isUnknown } from '../../core/json-members.ts';
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, parsePageLimit } from '../../core/limits.ts';

/** `must`: the message for a value that is not an object. */
export const closedObject = <Shape extends z.core.$ZodLooseShape>(shape: Shape, must = 'must be an object') =>
  z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? isUnknown(issue.keys[0] ?? '', Object.keys(shape)) : must),
  });

/** A number in a query, documented as a number although it arrives as text. */
export const pageLimit = (description: string) =>
  z
    .string()
    .refine((text) => parsePageLimit(text) !== undefined, `must be a whole number from 1 to ${PAGE_LIMIT_MAX}`)
    .meta({ type: 'integer', minimum: 1, maximum: PAGE_LIMIT_MAX, default: PAGE_LIMIT_DEFAULT, description })
    .transform(Number);

export const dryRunSchema = z
  .enum(['true', 'false'], 'must be true or false')
  .meta({ description: '`true`: change nothing, and answer what would change.' });

/** The query of an operation that can say what it would do. */
export const dryRunQuerySchema = z.object({ dry_run: dryRunSchema.optional() });

/** How long a page of the change feed or of an export waits if it is empty. */
export const waitSeconds = (description: string) =>
  z
    .string()
    .refine(
      (text) => /^[0-9]{1,3}$/.test(text) && Number(text) <= FEED_WAIT_SECONDS_MAX,
      `must be a whole number of seconds from 0 to ${FEED_WAIT_SECONDS_MAX}`,
    )
    .meta({ type: 'integer', minimum: 0, maximum: FEED_WAIT_SECONDS_MAX, default: 0, description })
    .transform(Number);

/** Each item once. */
export const filterList = (form: string, isItem: (item: string) => boolean, description: string) =>
  z
    .string()
    .refine((text) => filterFault(text, form, isItem) === undefined, {
      error: ({ input }) => filterFault(String(input), form, isItem),
    })
    .meta({
      maxLength: FILTER_LENGTH_MAX,
      description: `${description} Up to ${FILTER_NAMES_MAX}, separated by commas.`,
    })
    .transform((text) => [...new Set(text.split(','))]);

/** Pairs of a namespace and a relation. */
export const pairList = (description: string) =>
  filterList('namespace:relation, such as document:viewer', isPair, description);

export const tenantIdText = z
  .string()
  .meta({ description: 'The tenant. A mirror of its grants is joined with no other.' });
