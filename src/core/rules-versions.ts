// The versions of a tenant's rules: one for each change of them, numbered from 1. The newest are kept.

import { formatTimestamp } from './text/timestamps.ts';

/**
 * A version as listings show it, without its text. The version is a number; the revision is a digest of the text, which
 * versions with the same rules share.
 */
export interface RulesVersion {
  /** 1 and up, without gaps. */
  readonly version: number;
  readonly revision: string;
  /** Wall clock, ms since the Unix epoch. */
  readonly atMs: number;
  /** A key id, or `operator:<name>`. */
  readonly actor: string;
  readonly requestId: string;
  /** Lines of the difference from the version before: see `diffRules`. */
  readonly added: number;
  readonly removed: number;
}

/** The form that both APIs return. */
export const rulesVersionRecord = ({ version, revision, atMs, actor, requestId, added, removed }: RulesVersion) => ({
  version,
  revision,
  at: formatTimestamp(atMs),
  actor,
  request_id: requestId,
  added,
  removed,
});

const VERSION_TEXT = /^[1-9]\d{0,8}$/;

/** From a path or a command line; undefined: no version has this number. */
export const parseVersion = (text: unknown): number | undefined =>
  typeof text === 'string' && VERSION_TEXT.test(text) ? Number(text) : undefined;

/**
 * Versions of one tenant that are kept, so at most 6.4 MB of text. Stored rows depend on it: it stays. A version has
 * the place of the one that it replaces, so nothing has to be deleted.
 */
export const RULES_VERSIONS_MAX = 100;

/** The place of a version among the rows of its tenant. */
export const placeOfVersion = (version: number): number => version % RULES_VERSIONS_MAX;

/** Whether a version is among those that are kept. `present`: the number of the present one; 0: none. */
export const isKeptVersion = (version: number, present: number): boolean =>
  version >= 1 && version <= present && version > present - RULES_VERSIONS_MAX;
