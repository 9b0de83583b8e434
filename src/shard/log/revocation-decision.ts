// Decides a revocation by a filter: at one moment, it revokes the first matching grants, as many as one operation
// takes. It collects the expired ones among them instead, without counting them. Invariant: it reports `complete` only
// if no matching grant is left at that moment, after the earlier decisions of the batch and by the log: the expiries
// that it relies on are in its own entry.

import { hasExpired, textOfTerms } from '../../core/grant-attributes.ts';
import { type Grant, grantOf } from '../../core/tuples.ts';
import { demandDeclared } from '../../rules/allowed-grants.ts';
import type { Change } from '../log-changes.ts';
import type { TupleChange } from '../memory/grant-deltas.ts';
import type { PageRow } from '../memory/grant-page.ts';
import type { HeldRange } from '../memory/grant-range.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import type { GrantFilter, RevokeResult } from '../shard.ts';
import type { Draft } from './draft.ts';
import { assertLives, type Decide } from './write-decisions.ts';
import type { Proposal } from './write-queue.ts';

/** UTF-8 bytes of a revocation in the log, without its identifiers. */
const REVOCATION_BYTES = 256;
const OPERATION_BYTES = 1024;
/** Reserved for grants that are created before the decision. */
const SPARE_BYTES = 16 * 1024;
const SPARE_CHANGES = 50;
/** One operation: about 1,400 ordinary grants, or 200 of the longest. */
const BYTES_MAX = 480 * 1024;

/** The room that an operation reserves in its entry. */
export type RevocationSize = Required<Pick<Proposal, 'bytesMax' | 'changesMax'>>;

const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text));

const bytesOf = (entityBytes: number, row: PageRow): number =>
  REVOCATION_BYTES + entityBytes + jsonBytes(row.counterpart) + jsonBytes(textOfTerms(row));

/** Too much has changed since the matching grants were read; the caller reads them again. Nothing was done. */
export class OutdatedRange extends Error {}

/** The room that the operation needs for the grants that match now. */
export function sizeOfRevocation({ entity, countMax }: HeldRange, matching: readonly PageRow[]): RevocationSize {
  const entityBytes = jsonBytes(entity);
  let bytesMax = OPERATION_BYTES + SPARE_BYTES;
  for (const row of matching.slice(0, countMax)) bytesMax += bytesOf(entityBytes, row);
  return {
    bytesMax: Math.min(bytesMax, BYTES_MAX),
    changesMax: Math.min(matching.length + SPARE_CHANGES, countMax),
  };
}

/** The matching grants that one operation of this size collects and revokes. */
function takenFrom(range: HeldRange, matching: readonly PageRow[], size: RevocationSize, nowMs: number) {
  const entityBytes = jsonBytes(range.entity);
  const expired: PageRow[] = [];
  const ended: PageRow[] = [];
  let bytes = OPERATION_BYTES;
  for (const row of matching) {
    bytes += bytesOf(entityBytes, row);
    if (expired.length + ended.length === size.changesMax || bytes > size.bytesMax) break;
    if (hasExpired(row, nowMs)) expired.push(row);
    else ended.push(row);
  }
  const complete = expired.length + ended.length === matching.length && range.end === undefined;
  return { expired, ended, complete };
}

/** What a revocation would do that is decided now. */
export function previewOfRevocation(range: HeldRange, matching: readonly PageRow[], nowMs: number): RevokeResult {
  const { ended, complete } = takenFrom(range, matching, sizeOfRevocation(range, matching), nowMs);
  return { revoked: ended.length, complete };
}

/** Revokes no more than what `size` has reserved. The rules must be pinned if the filter has an own relation. */
export function decideRevocation(
  memory: TenantMemory,
  { of, relation }: GrantFilter,
  range: HeldRange,
  size: RevocationSize,
): Decide {
  return (draft) => {
    assertLives(draft, memory);
    if (relation !== undefined) demandDeclared(relation, () => draft.rules(memory));
    const matching = range.current(draftedOf(draft, memory, of));
    if (matching === undefined) throw new OutdatedRange();
    const { expired, ended, complete } = takenFrom(range, matching, size, draft.nowMs);
    const changes: Change[] = [
      ...expired.map((row): Change => ({ kind: 'grant-expired', grant: grantIn(of, row) })),
      ...ended.map((row): Change => ({ kind: 'grant-revoked', grant: grantIn(of, row) })),
    ];
    const revoked = ended.length;
    range.swept(matching, changes.length);
    return {
      result: { kind: 'revocation', revoked, complete },
      changes,
      results: { kind: 'revocation', revoked, complete },
    };
  };
}

function grantIn(of: GrantFilter['of'], { relation, counterpart, ...attributes }: PageRow): Grant {
  const [subject, object] = 'subject' in of ? [of.subject, counterpart] : [counterpart, of.object];
  return grantOf({ subject, relation, object }, attributes);
}

/** The changes of the entity by earlier decisions of the batch. */
function* draftedOf(draft: Draft, memory: TenantMemory, of: GrantFilter['of']): Generator<TupleChange> {
  for (const { tuple, facts } of draft.draftedGrants(memory)) {
    const { subject, object } = tuple;
    const relation = memory.relations.of(tuple.relation);
    if ('object' in of) {
      if (object === of.object) yield { relation, counterpart: subject, facts };
    } else if (subject === of.subject) yield { relation, counterpart: object, facts };
  }
}
