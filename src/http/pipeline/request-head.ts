// What the head of a request says: its API key, the kind of its body, and where its query is.

import { GrantdError } from '../../core/errors.ts';
import type { RequestHeaders } from '../wire/incoming.ts';

// ---- the API key ----

const BEARER = 'Bearer ';
/** RFC 6750 section 2.1; the scheme is case-insensitive (RFC 9110 section 11.1). */
const BEARER_ANY_CASE = /^bearer +([^ ]+)$/i;

/** The API key in an Authorization header; undefined if it carries none. */
export function bearerTokenOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (header.startsWith(BEARER)) {
    const token = header.slice(BEARER.length);
    if (token !== '' && !token.includes(' ')) return token;
  }
  return BEARER_ANY_CASE.exec(header)?.[1];
}

// ---- the media type: only text in UTF-8 without a content encoding is accepted ----

/** The types that a body may have. */
export interface MediaTypes {
  /** The first of them, which messages name. */
  readonly name: string;
  readonly pattern: RegExp;
}

/**
 * RFC 9110 section 8.3: parameters are separated by ";"; their names and the type are case-insensitive. No text matches
 * this in two ways: an engine that tries all of them would take hours for a header of spaces and semicolons.
 */
export const mediaTypes = (name: string, ...others: readonly string[]): MediaTypes => ({
  name,
  pattern: new RegExp(
    `^(?:${[name, ...others].map(RegExp.escape).join('|')})[ \\t]*(?:;[ \\t]*(?:charset=(?:utf-8|"utf-8")[ \\t]*)?)*$`,
    'i',
  ),
});

export const JSON_ALONE = mediaTypes('application/json');
/** Lines of JSON have several names, none of them registered. */
export const NDJSON_TYPES = ['application/x-ndjson', 'application/ndjson', 'application/jsonl'] as const;
export const NDJSON = mediaTypes(...NDJSON_TYPES);

/** Whether the body has the type, with whatever parameters. */
export const hasMediaType = (headers: RequestHeaders, name: string): boolean =>
  headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() === name;

/** Quotes only a type of ordinary form and length. */
const described = (type: string | undefined): string => {
  if (type === undefined) return 'none';
  return /^[!-~]{1,64}(?:; ?[!-~]{1,64})?$/.test(type) ? JSON.stringify(type) : 'another';
};

/** The error for a body that is not plain text of one of the types, or undefined. */
export function findMediaTypeError(headers: RequestHeaders, { name, pattern }: MediaTypes): GrantdError | undefined {
  const type = headers['content-type'];
  if (type !== name && (type === undefined || !pattern.test(type))) {
    return new GrantdError(
      'unsupported-media-type',
      `The body must have the content type ${name} in UTF-8; it has ${described(type)}.`,
    );
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    return new GrantdError('unsupported-media-type', 'The body must not have a content encoding.');
  }
  return undefined;
}

// ---- the query ----

/** The part of a request target after the `?`. Throws `invalid-request` for a fragment, which no target may have. */
export function queryTextOf(target: string): string {
  if (target.includes('#')) throw new GrantdError('invalid-request', 'The request target must not hold a "#".');
  const start = target.indexOf('?');
  return start === -1 ? '' : target.slice(start + 1);
}
