// The fields that a browser sends with a form, and the messages for refused ones. A refusal keeps every value, so that
// the page can show the form again as it was filled in.

import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { ERROR_CATALOGUE, type ErrorCode, EVALUATION_ERRORS, GrantdError } from '../../../src/core/errors.ts';
import { findMediaTypeError, mediaTypes } from '../../../src/http/pipeline/request-head.ts';
import { tooLarge } from '../../../src/http/wire/request-body.ts';

/** The sender has not logged in yet. */
export const LOG_IN_FORM_BYTES_MAX = 64 * 1024;
/** 200,000 UTF-16 units of pasted text take up to nine bytes each, percent-encoded. */
export const FORM_BYTES_MAX = 2 * 1024 * 1024;
const FORM = mediaTypes('application/x-www-form-urlencoded');
/** More fields than any page has. */
const FIELDS_MAX = 100;

/** The fields of a form or a query, in order of arrival; none is trusted. */
export class Fields {
  readonly #values = new Map<string, string[]>();

  /** Throws `invalid-request` if the text is not percent-encoded UTF-8. */
  constructor(text: string) {
    const pairs = text.split('&').filter((pair) => pair !== '');
    if (pairs.length > FIELDS_MAX) throw new GrantdError('invalid-request', 'The form has too many fields.');
    for (const pair of pairs) {
      const separator = pair.indexOf('=');
      const name = decode(separator < 0 ? pair : pair.slice(0, separator));
      const value = separator < 0 ? '' : decode(pair.slice(separator + 1));
      this.#values.set(name, [...(this.#values.get(name) ?? []), value]);
    }
  }

  /** Empty if it was not sent; the first value if it was sent several times. */
  text(name: string): string {
    return this.#values.get(name)?.[0] ?? '';
  }

  /** As `text`, without the space around it. */
  typed(name: string): string {
    return this.text(name).trim();
  }

  /** The values of check boxes with one name. */
  list(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  /** Undefined if it is missing or empty. */
  optional(name: string): string | undefined {
    const value = this.text(name);
    return value === '' ? undefined : value;
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new GrantdError('invalid-request', 'The form is not percent-encoded UTF-8.');
  }
}

export const NO_FIELDS = new Fields('');

/** The whole body. Throws `unsupported-media-type`, `payload-too-large`, or `invalid-request` if it breaks off. */
async function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const mediaTypeError = findMediaTypeError(request.headers, FORM);
  if (mediaTypeError !== undefined) throw mediaTypeError;
  const announced = request.headers['content-length'];
  if (announced !== undefined && Number(announced) > bytesMax) throw tooLarge(bytesMax);
  return new Promise((resolve, reject) => {
    const broken = (): void =>
      reject(new GrantdError('invalid-request', 'The connection closed before the body was complete.'));
    if (request.destroyed) {
      broken();
      return;
    }
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > bytesMax) {
        // Reads and drops the rest: otherwise a client that is still sending would lose the response to a reset.
        chunks.length = 0;
        reject(tooLarge(bytesMax));
        return;
      }
      chunks.push(chunk);
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', broken);
    request.once('close', broken);
  });
}

/** Throws as `readBody` does. */
export async function readForm(request: IncomingMessage, bytesMax: number): Promise<Fields> {
  const bytes = await readBody(request, bytesMax);
  return new Fields(bytes.toString('latin1'));
}

/** What is wrong with a form: a sentence for each field name; `form` for errors of no particular field. */
export interface Refusal {
  readonly status: number;
  readonly messages: Readonly<Record<string, string>>;
}

export const refuse = (field: string, message: string, status = 422): Refusal => ({
  status,
  messages: { [field]: message },
});

/** Undefined if no field has a message. */
export function refuseAll(messages: Readonly<Record<string, string | undefined>>): Refusal | undefined {
  const wrong = Object.entries(messages).flatMap(([field, message]) =>
    message === undefined ? [] : [[field, message]],
  );
  return wrong.length === 0 ? undefined : { status: 422, messages: Object.fromEntries(wrong) };
}

/** The messages of several parts of a form, of which some are refused. */
export const joinRefusals = (
  ...parts: readonly (object & { readonly refusal?: Refusal | undefined })[]
): { readonly refusal: Refusal } => ({
  refusal: { status: 422, messages: Object.assign({}, ...parts.map(({ refusal }) => refusal?.messages)) },
});

/** The refusal of a zod schema: one sentence per field, the first that applies. */
export function refuseInvalid(error: z.ZodError): Refusal {
  const messages: Record<string, string> = {};
  for (const issue of error.issues) {
    const field = String(issue.path[0] ?? 'form');
    messages[field] ??= `This ${issue.message}.`;
  }
  return { status: 422, messages };
}

/** Milliseconds since the Unix epoch, from a date and time in UTC as a person types it; undefined if it is neither. */
export function parseDateTime(text: string): number | undefined {
  const [, date, time] =
    /^(\d{4,6}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(?: ?(?:Z|UTC))?$/.exec(text) ?? [];
  const ms = date === undefined ? Number.NaN : Date.parse(`${date}T${time}Z`);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Errors that no correction of the form can fix: the error page is shown instead. */
const NOT_OF_THE_FORM: ReadonlySet<ErrorCode> = new Set(['internal', 'tenant-not-found', 'unauthorized']);

/** Errors of a question or of its context. */
const OF_A_QUESTION: ReadonlySet<ErrorCode> = new Set([
  'invalid-relation',
  'invalid-request',
  'invalid-condition',
  ...EVALUATION_ERRORS,
]);

/**
 * Turns an error of the service into a refusal of the form. `fields`: the field that an error concerns; the whole form
 * if it is not listed. Rethrows other errors.
 */
export function refuseThrown(thrown: unknown, fields: Partial<Record<ErrorCode, string>> = {}): Refusal {
  if (!(thrown instanceof GrantdError) || NOT_OF_THE_FORM.has(thrown.code)) throw thrown;
  return refuse(fields[thrown.code] ?? 'form', thrown.message, ERROR_CATALOGUE[thrown.code].httpStatus);
}

export interface Outcome<Answer> {
  readonly answer?: Answer;
  readonly refusal?: Refusal | undefined;
}

/** The field of a question that an error concerns. */
function fieldOfQuestion({ code, message }: GrantdError): string {
  if (/^"context_grants\b/.test(message)) return 'context_grants';
  if (code === 'context-incomplete' || /^"context\b/.test(message)) return 'context';
  return code === 'invalid-relation' ? 'relation' : 'form';
}

/** Answers a question. Refuses only one that is wrong itself, incomplete, or too large; rethrows other errors. */
export async function answerQuestion<Answer>(answer: () => Promise<Answer>): Promise<Outcome<Answer>> {
  try {
    return { answer: await answer() };
  } catch (thrown) {
    if (!(thrown instanceof GrantdError) || !OF_A_QUESTION.has(thrown.code)) throw thrown;
    return { refusal: refuseThrown(thrown, { [thrown.code]: fieldOfQuestion(thrown) }) };
  }
}
