// Decides a revocation by a filter: at one moment, it revokes the first grants that match then, as many as one operation
// takes. Invariant: it reports `complete` only if no grant that matches is left at that very moment, with the earlier
// decisions of the batch.

import { assert } from '../../core/assert.ts';
import { REVOKED_PER_CALL_MAX } from '../../core/limits.ts';
import { type Grant, grantOf, wireNumberOf } from '../../core/tuples.ts';
import type { Change } from '../log-changes.ts';
import type { TupleChange } from '../memory/grant-deltas.ts';
import type { PageRow } from '../memory/grant-page.ts';
import type { HeldRange } from '../memory/grant-range.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import type { GrantFilter } from '../shard.ts';
import { assertLives, type Decide, type Draft } from './write-decisions.ts';

/** UTF-8 bytes of a revocation in the log, without its identifiers. */
const REVOCATION_BYTES = 256;
/** Reserved for grants that are created before the decision. */
const SPARE_BYTES = 16 * 1024;
/** UTF-8 bytes of the changes of one operation. */
export const REVOCATIONS_BYTES_MAX = 480 * 1024;

const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text));

const bytesOf = (entityBytes: number, { counterpart }: PageRow): number =>
  REVOCATION_BYTES + entityBytes + jsonBytes(counterpart);

/** Too much has changed since the matching grants were read: read them again. Nothing was done. */
export class RangeOutdated extends Error {}

/** What the operation must reserve for its changes, given what matches now. */
export function bytesReserved({ entity }: HeldRange, matching: readonly PageRow[]): number {
  const entityBytes = jsonBytes(entity);
  let bytes = SPARE_BYTES;
  for (const row of matching.slice(0, REVOKED_PER_CALL_MAX)) bytes += bytesOf(entityBytes, row);
  return Math.min(bytes, REVOCATIONS_BYTES_MAX);
}

export function decideRevocation(
  memory: TenantMemory,
  { of }: GrantFilter,
  range: HeldRange,
  bytesMax: number,
): Decide {
  return (draft) => {
    assertLives(draft, memory);
    const matching = range.current(draftedOf(draft, memory, of));
    if (matching === undefined) throw new RangeOutdated();
    const entityBytes = jsonBytes(range.entity);
    const changes: Change[] = [];
    let bytes = 0;
    for (const row of matching) {
      bytes += bytesOf(entityBytes, row);
      if (changes.length === REVOKED_PER_CALL_MAX || bytes > bytesMax) break;
      changes.push({ kind: 'grant-revoked', grant: grantIn(of, row) });
    }
    assert(changes.length > 0 || matching.length === 0, 'the longest grant fits into every revocation');
    const revoked = changes.length;
    const result = {
      kind: 'revocation',
      revoked,
      complete: revoked === matching.length && range.end === undefined,
    } as const;
    return { result, changes, results: result };
  };
}

function grantIn(of: GrantFilter['of'], { relation, counterpart, ...attributes }: PageRow): Grant {
  const [subject, object] = 'subject' in of ? [of.subject, counterpart] : [counterpart, of.object];
  return grantOf({ subject, relation, object }, attributes);
}

/** What earlier decisions of the batch changed of the entity. */
function* draftedOf(draft: Draft, memory: TenantMemory, of: GrantFilter['of']): Generator<TupleChange> {
  for (const { tuple, facts } of draft.draftedGrants(memory)) {
    const { subject, object } = tuple;
    const relation = wireNumberOf(tuple.relation);
    if ('object' in of) {
      if (object === of.object) yield { relation, counterpart: subject, facts };
    } else if (subject === of.subject) yield { relation, counterpart: object, facts };
  }
}
