// Entity tags in conditions of requests (RFC 9110, sections 8.8.3, 13.1.1 and 13.1.2).

import { GrantdError } from '../errors.ts';

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
