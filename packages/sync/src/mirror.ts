// A mirror of grants: what it reads, and what follows from it. A row is a grant from the entry `since` on, up to the
// entry `until`, which is the first without it. Invariant: once everything through an entry has been applied, the rows
// with since <= t < until are, for every t from `horizon` to there, exactly the mirrored grants after the entry t.

import { namespaceOf } from '../../../src/core/tuples.ts';
import { parseGroup } from '../../../src/rules/compiled-rules.ts';
import type { Join } from '../../../src/rules/join.ts';
import { CliFailure, EXIT } from '../../cli/src/failures.ts';

/** `until` of a grant that is there. */
export const OPEN = Number.MAX_SAFE_INTEGER;

/** How long a state can be asked about after it has passed: longer than an answer of `POST /v1/sets` is in use. */
const WINDOW_MS = 600_000;
const MARK_INTERVAL_MS = 5000;

/** As the columns of a database have it. */
export interface MirroredGrant {
  readonly object: string;
  readonly relation: string;
  readonly subject: string;
  /** Ms since the Unix epoch. */
  readonly expires_at: number | null;
  readonly conditional: boolean;
}

export interface MirrorRow extends MirroredGrant {
  readonly since: number;
  readonly until: number;
  /** Of the subject's text: 0 an entity, 1 of the form of a group, 2 everyone of a namespace, 3 every subject. */
  readonly kind: number;
}

/** The state of a grant after the entry. */
export interface MirrorChange {
  readonly seq: number;
  readonly grant: MirroredGrant;
  readonly isThere: boolean;
}

export interface SnapshotPage {
  readonly grants: readonly MirroredGrant[];
  /** The entry at which it was read. */
  readonly seq: number;
  /** Where the feed begins; of the first page. */
  readonly feed: string;
  /** Undefined: it was the last page. */
  readonly next: string | undefined;
}

export interface ChangesPage {
  readonly changes: readonly MirrorChange[];
  /** Everything of the entries up to this one has been delivered. */
  readonly seq: number;
  readonly cursor: string;
  /** Whether rules were changed. */
  readonly rules: boolean;
  /** When the last change was made; undefined: there is none. */
  readonly atMs: number | undefined;
}

/** Joins of one revision of the rules, each with the name that a database knows it by. `revision`: with the tenant. */
export interface JoinSet {
  readonly revision: string;
  readonly joins: readonly { readonly id: string; readonly join: Join }[];
}

/** Of a database or an index beside the application's data. `passes`: it may work later. */
export class SyncFailure extends CliFailure {
  readonly passes: boolean;

  constructor(message: string, passes: boolean, cause?: unknown) {
    super(message, EXIT.failed, { cause });
    this.passes = passes;
  }
}

/** The feed no longer has what comes after the cursor, or never had it. */
export class CursorLost extends Error {
  /** The mirror is of another store or tenant. */
  readonly isForeign: boolean;

  constructor(message: string, isForeign: boolean) {
    super(message);
    this.isForeign = isForeign;
  }
}

/** The rules no longer have a relation that was asked for: the joins are no longer those of the rules. */
export class RelationGone extends Error {}

/** The service. Undefined: interrupted. Pages of grants and changes throw `RelationGone`. */
export interface MirrorSource {
  joins(): Promise<JoinSet | undefined>;
  snapshot(pairs: readonly string[], cursor: string | undefined): Promise<SnapshotPage | undefined>;
  /** Waits for a change if there is none. Throws `CursorLost`. */
  changes(
    pairs: readonly string[],
    cursor: string,
    options: { readonly waitSeconds: number; readonly signal?: AbortSignal },
  ): Promise<ChangesPage | undefined>;
}

export interface MirrorPlace {
  readonly seq: number;
  readonly cursor: string;
  /** Rows that end up to this entry may be gone. */
  readonly horizon: number;
}

/** `namespace:relation` of what the joins are reckoned from, sorted. A join that needs no grants follows some, too. */
export function pairsOf({ joins }: JoinSet): readonly string[] {
  const pairs = joins.flatMap(({ join }) =>
    join.mirror.flatMap(({ namespace, relations }) => relations.map((relation) => `${namespace}:${relation}`)),
  );
  return [...new Set(pairs.length > 0 ? pairs : joins.map(({ join }) => `${join.namespace}:parent`))].sort();
}

function kindOf(subject: string): number {
  if (subject === '*') return 3;
  if (parseGroup(subject) !== undefined) return 1;
  return subject === `${namespaceOf(subject)}:*` ? 2 : 0;
}

export const rowOf = (grant: MirroredGrant, since: number, until = OPEN): MirrorRow => ({
  ...grant,
  since,
  until,
  kind: kindOf(grant.subject),
});

export interface MirrorBatch {
  /** The first entry that changes a tuple: rows from there on are replaced, and an earlier one ends there. */
  readonly ended: readonly Pick<MirrorRow, 'object' | 'relation' | 'subject' | 'since'>[];
  readonly begun: readonly MirrorRow[];
}

/**
 * Changes up to the entry `seq` have been applied already. Those of a later entry may come again, from its beginning:
 * of several changes of a tuple in an entry, the last counts.
 */
export function batchOf(changes: readonly MirrorChange[], seq: number): MirrorBatch {
  const byTuple = new Map<string, Map<number, MirrorChange>>();
  for (const change of changes) {
    if (change.seq <= seq) continue;
    const { object, relation, subject } = change.grant;
    const key = `${object} ${relation} ${subject}`;
    const states = byTuple.get(key) ?? new Map<number, MirrorChange>();
    byTuple.set(key, states.set(change.seq, change));
  }
  const ended: MirrorBatch['ended'][number][] = [];
  const begun: MirrorRow[] = [];
  for (const states of byTuple.values()) {
    const ordered = [...states.values()];
    const first = ordered[0];
    if (first === undefined) continue;
    const { object, relation, subject } = first.grant;
    ended.push({ object, relation, subject, since: first.seq });
    for (const [index, { seq: since, grant, isThere }] of ordered.entries()) {
      if (isThere) begun.push(rowOf(grant, since, ordered[index + 1]?.seq));
    }
  }
  return { ended, begun };
}

/** Where the mirror was ten minutes ago. */
export class Horizon {
  readonly #marks: { readonly atMs: number; readonly seq: number }[] = [];

  /** The newest place that has passed, at least `horizon`. */
  move({ seq, horizon }: MirrorPlace, nowMs: number): number {
    if (nowMs - (this.#marks.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY) >= MARK_INTERVAL_MS) {
      this.#marks.push({ atMs: nowMs, seq });
    }
    const passed = this.#marks.findLastIndex(({ atMs }) => atMs <= nowMs - WINDOW_MS);
    const [mark] = this.#marks.splice(0, passed + 1).slice(-1);
    return Math.max(horizon, mark?.seq ?? 0);
  }
}
