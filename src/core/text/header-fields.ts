// Header fields that leave open what a request means. Node keeps the first of two such fields, and a proxy before this
// service may have looked at the last: who it let through, or where it thought that the body ends, might not be what is
// served here.

import { GrantdError } from '../errors.ts';

/** Those that are read here. A repeated field of another name is a list, or is refused by the parser of its value. */
const SINGLE = ['host', 'authorization', 'content-type'] as const;

/** What the detail of a 400 says; undefined: the header is unambiguous. `raw`: names and values in turn. */
export function ambiguityOf(raw: readonly string[], transferEncoding: string | undefined): string | undefined {
  // RFC 9112 section 6.1: other codings before it would have to be known.
  if (transferEncoding !== undefined && transferEncoding.toLowerCase() !== 'chunked') {
    return 'The only "Transfer-Encoding" that this service knows is "chunked".';
  }
  const names = raw.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  const repeated = SINGLE.find((single) => names.indexOf(single) !== names.lastIndexOf(single));
  return repeated === undefined ? undefined : `The header "${repeated}" is repeated.`;
}

/** A UUID has 36 characters; ids of tracing systems and gateways stay below 100. */
export const CLIENT_REQUEST_ID_LENGTH_MAX = 128;

const FORM = new RegExp(`^[!-~]{1,${CLIENT_REQUEST_ID_LENGTH_MAX}}$`);

/** The id in the value of the header; undefined: there is none that may be repeated. */
export const clientRequestIdOf = (value: string | readonly string[]): string | undefined =>
  typeof value === 'string' && FORM.test(value) ? value : undefined;

export interface EntityTag {
  readonly weak: boolean;
  /** Without its quotes. */
  readonly value: string;
}

/** One tag, and what may follow it: a comma and further empty elements, or the end. */
const TAG = /(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[ \t]*(?:,[ \t,]*|$)/y;

/**
 * The tags of a header, or `*`. Throws `invalid-request` for anything else, including the empty list: a misread
 * condition could overwrite the very state that it protects.
 */
export function parseEntityTags(header: string, text: string): '*' | readonly EntityTag[] {
  let end = text.length;
  // A regular expression for trailing blanks would take quadratic time in a long run of blanks.
  while (text[end - 1] === ' ' || text[end - 1] === '\t') end -= 1;
  const trimmed = text.slice(0, end).replace(/^[ \t,]+/, '');
  if (trimmed === '*') return '*';
  const tags: EntityTag[] = [];
  TAG.lastIndex = 0;
  while (TAG.lastIndex < trimmed.length) {
    const match = TAG.exec(trimmed);
    if (match === null) break;
    tags.push({ weak: match[1] !== undefined, value: match[2] ?? '' });
    if (TAG.lastIndex === trimmed.length) return tags;
  }
  throw new GrantdError('invalid-request', `The header ${header} must be "*" or a list of entity tags in quotes.`);
}
