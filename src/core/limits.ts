// The limits that several layers keep to, each with its reason: what one layer lets through, the next one has to take.
// A limit of one layer alone is declared there.

/** Checks per bulk request: some 220 KiB of the longest identifiers, decided in one step of a shard. */
export const BULK_CHECKS_MAX = 100;

/**
 * Grants that one call writes, and lines of one import request: 2.3 MB of the longest identifiers, well below a
 * message.
 */
export const WRITES_PER_CALL_MAX = 1000;

/** UTF-8 bytes of one import request: so many lines of ordinary grants take a tenth of it. */
export const IMPORT_BODY_BYTES_MAX = 1024 * 1024;

/** Items of a page: a shard reads and sends so many in some milliseconds. */
export const PAGE_LIMIT_MAX = 1000;
export const PAGE_LIMIT_DEFAULT = 100;

/** Code points of the name of a tenant or a key: a line for people. */
export const NAME_LENGTH_MAX = 256;
/** The same in UTF-16 units, as `length` counts them: a code point takes two at most. */
export const NAME_UNITS_MAX = 2 * NAME_LENGTH_MAX;

/**
 * Shards that a front connects to: several times the largest cluster. Beyond, something names addresses that are no
 * shards.
 */
export const SHARD_ADDRESSES_MAX = 1000;

/**
 * UTF-8 bytes of a JSON body: a tuple of the longest identifiers is below 8 KiB even when every character is escaped.
 */
export const BODY_BYTES_MAX = 64 * 1024;

/**
 * The limit of a page as a client writes it: 1 to 1,000 in digits, no sign and no zero before. Undefined: it is none.
 */
export function parsePageLimit(text: string): number | undefined {
  const limit = /^[1-9][0-9]{0,9}$/.test(text) ? Number(text) : 0;
  return limit >= 1 && limit <= PAGE_LIMIT_MAX ? limit : undefined;
}
