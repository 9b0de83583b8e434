// The limits that several layers share, each with its reason: every layer must handle what the previous one accepts. A
// limit of a single layer is declared in that layer.

/** Checks per bulk request: about 220 KiB of the longest identifiers, decided in one step of a shard. */
export const BULK_CHECKS_MAX = 100;

/** Changes of one bulk write, and its preconditions. */
export const BULK_CHANGES_MAX = 100;
export const BULK_PRECONDITIONS_MAX = 100;

export const CONTEXT_GRANTS_MAX = 100;

/** Grants that one call revokes by a filter, at one moment: a step of a few milliseconds. */
export const REVOKED_PER_CALL_MAX = 1000;

/**
 * UTF-8 bytes of the body of a bulk call: 200 tuples of the longest identifiers are about 440 KiB. With every character
 * escaped, 100 of them are 700 KiB.
 */
export const BULK_BODY_BYTES_MAX = 1024 * 1024;

/**
 * UTF-8 bytes of the body that sets rules: their canonical text has at most 128 KiB, which white space and escapes may
 * make several times as long.
 */
export const RULES_BODY_BYTES_MAX = 512 * 1024;

/**
 * Grants written by one call, and lines of one import request: 2.3 MB of the longest identifiers, well below the limit
 * of a message.
 */
export const WRITES_PER_CALL_MAX = 1000;

/** UTF-8 bytes of one import request: that many lines of ordinary grants take a tenth of this. */
export const IMPORT_BODY_BYTES_MAX = 1024 * 1024;

/** Items of a result page: a shard reads and sends that many in a few milliseconds. */
export const PAGE_LIMIT_MAX = 1000;
export const PAGE_LIMIT_DEFAULT = 100;

/** Sets of a subject in one answer, and their UTF-8 bytes: what a statement of a database takes as a parameter. */
export const SETS_MAX = 10_000;
export const SET_BYTES_MAX = 1024 * 1024;
/** Namespaces of containers that one join has in its mirror. */
export const DEEP_MAX = 100;

/** The longest grace of a rotated API key: a month. A longer one would be forgotten. */
export const ROTATION_GRACE_MS_MAX = 30 * 24 * 3_600_000;
/** A day: long enough to deploy the new key everywhere, short enough to follow it to the end. */
export const ROTATION_GRACE_MS_DEFAULT = 24 * 3_600_000;

/** Code points in the name of a tenant or key: one line of text. */
export const NAME_LENGTH_MAX = 256;
/** The same in UTF-16 units, as counted by `length`: a code point takes at most two. */
export const NAME_UNITS_MAX = 2 * NAME_LENGTH_MAX;

/** Shards that a peer connects to: several times the largest cluster. With more, some addresses cannot be shards. */
export const SHARD_ADDRESSES_MAX = 1000;

/**
 * UTF-8 bytes of a JSON body: a tuple of the longest identifiers takes less than 8 KiB even if every character is
 * escaped.
 */
export const BODY_BYTES_MAX = 64 * 1024;

/** Nested arrays and objects in a long JSON text: a bulk call needs three, the rest is for attributes (AuthZEN). */
export const JSON_DEPTH_MAX = 32;

/**
 * Values in a long JSON text: a bulk of 100 checks has 402, one of 100 grants under 100 conditions 903, the rest is for
 * attributes (AuthZEN). Parsing this many takes about 5 ms.
 */
export const JSON_VALUES_MAX = 4096;

/**
 * The same in the body that sets rules: 500 relations, each with a short type and a short rule, have 6,500 values.
 * Parsing this many takes up to 8 ms.
 */
export const RULES_JSON_VALUES_MAX = 10_000;

/** The proof of one check as JSON; the rest of a longer one is cut off. */
export const PROOF_BYTES_MAX = 256 * 1024;

/**
 * The page limit in a client's request: 1 to 1,000 in digits, without a sign or leading zero. Undefined: it is invalid.
 */
export function parsePageLimit(text: string): number | undefined {
  const limit = /^[1-9][0-9]{0,9}$/.test(text) ? Number(text) : 0;
  return limit >= 1 && limit <= PAGE_LIMIT_MAX ? limit : undefined;
}
