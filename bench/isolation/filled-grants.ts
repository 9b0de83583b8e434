// The names of the grants that attacks need in the store in advance: filling and asking use the same.

import type { Tuple } from '../../src/core/tuples.ts';

export const LARGE_GRANTS_PER_SUBJECT = 10_000;
export const LONG_SUBJECTS = 8;
export const LONG_GRANTS_PER_SUBJECT = 9990;
export const WIDE_GRANTS = 1000;

const RELATION = 'viewer';
/** The maximum number of code points in an external id. */
const EXTERNAL_ID_MAX = 256;
const NUMBER_DIGITS = 6;
/** Two UTF-16 units and four bytes. */
const WIDEST = '\u{1F510}';

const padded = (number: number): string => String(number).padStart(NUMBER_DIGITS, '0');
const LONG_PREFIX = 'p'.repeat(EXTERNAL_ID_MAX - NUMBER_DIGITS);
const WIDE_PREFIX = WIDEST.repeat(EXTERNAL_ID_MAX - NUMBER_DIGITS);

/** One of many subjects with as many grants as a page holds, with the names that take the most bytes: 10 MB each. */
export const largeTuple = (subject: number, number: number): Tuple => ({
  subject: `user:large-${padded(subject)}`,
  relation: RELATION,
  object: `document:${WIDE_PREFIX}${padded(number)}`,
});

/** Nearly as many grants as fit a page, whose objects differ only in their last letters. */
export const longTuple = (subject: number, number: number): Tuple => ({
  subject: `user:long-${padded(subject)}`,
  relation: RELATION,
  object: `document:${LONG_PREFIX}${padded(number)}`,
});

/** One subject with the objects that take the most bytes in a listing. */
export const wideTuple = (number: number): Tuple => ({
  subject: 'user:wide',
  relation: RELATION,
  object: `document:${WIDE_PREFIX}${padded(number)}`,
});

export const listingPath = (subject: string): string =>
  `/v1/objects?subject=${encodeURIComponent(subject)}&relation=${RELATION}&limit=1000`;
