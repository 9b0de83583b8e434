// After a rollback: finds the revocations that a version without rows by object made, and stores them by object. The
// walk over the subjects (grant-walk.ts) does not see them once that version has removed their tombstone rows, so
// without the search the rows by object of those grants would stay live. The audit log of the tenant still has them.
//
// What is dead by subject, once the state tables contain everything up to a stamp, gets a tombstone row by object with
// that stamp, which is then removed. A grant that was created again since has a greater stamp. The search is resumable:
// the count row says how far it got. It goes through the whole audit log, since nothing says when the rollback began.

import type { Clock } from '../../core/async/clock.ts';
import { inParallel } from '../../core/async/in-parallel.ts';
import { attributesOfId } from '../../core/grant-attributes.ts';
import { parseTuple, type Tuple, tupleKey } from '../../core/tuples.ts';
import type { AuditLogRow, ObjectGrantWrite, Stamp, StateStore } from '../../store/store.ts';
import { monthBeside, monthOf } from '../log-changes.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import { storeDeadline } from '../store-calls.ts';
import type { Tenure } from './tenure.ts';

/** Rows of the audit log in one step: parsed in a few milliseconds. */
const ROWS_PER_STEP = 500;
const READS_AT_ONCE = 16;

export interface SearchPorts {
  readonly store: StateStore;
  readonly clock: Clock;
}

interface Revocation extends Tuple {
  readonly grantId: string;
}

export class RevocationSearch {
  readonly #ports: SearchPorts;
  readonly #tenure: Tenure;
  readonly #memory: TenantMemory;
  /** Where the next step reads; undefined: at the tenant's first month. */
  #place: { readonly month: string; readonly after: { readonly seq: number; readonly index: number } } | undefined;
  /** The state tables contain everything up to here. */
  #settled: { readonly stamp: Stamp; readonly month: string } | undefined;

  constructor(ports: SearchPorts, tenure: Tenure, memory: TenantMemory) {
    this.#ports = ports;
    this.#tenure = tenure;
    this.#memory = memory;
  }

  /** Searches the next rows of the audit log, from `searchedTo` on. */
  async step(searchedTo: number): Promise<void> {
    const { store, clock } = this.#ports;
    const { tenantId, tenant, grantCount } = this.#memory;
    this.#settled ??= await this.#settle();
    const { stamp, month: lastMonth } = this.#settled;
    const from = { seq: searchedTo + 1, index: -1 };
    const { month, after } = this.#place ?? { month: monthOf(tenant.createdAtMs), after: from };
    const rows = await store.listAuditLog({ tenantId, month, after, limit: ROWS_PER_STEP }, storeDeadline(clock));
    const dead: ObjectGrantWrite[] = [];
    await inParallel(revocationsIn(rows), READS_AT_ONCE, async ({ subject, relation, object, grantId }) => {
      const live = await store.readGrant(tenantId, subject, relation, object, storeDeadline(clock));
      if (live !== undefined) return;
      const grant = { subject, relation, object, ...attributesOfId(grantId) };
      dead.push({ ...grant, kind: 'object-grant', tenantId, tombstone: true, stamp });
    });
    if (dead.length > 0) {
      await store.writeState(dead, storeDeadline(clock));
      const tombstones = dead.map((write) => ({ ...write, kind: 'grant' as const }));
      await store.removeTombstones(tombstones, storeDeadline(clock));
    }
    const last = rows.at(ROWS_PER_STEP - 1);
    if (last !== undefined) {
      this.#place = { month, after: { seq: last.seq, index: last.index } };
      // The rest of the entry is on the next page.
      grantCount.searched(Math.max(searchedTo, last.seq - 1));
    } else if (month < lastMonth) {
      this.#place = { month: monthBeside(month, 1), after: from };
    } else {
      grantCount.searched(undefined);
    }
  }

  async #settle(): Promise<{ readonly stamp: Stamp; readonly month: string }> {
    const stamp = this.#tenure.nextBase - 1;
    await this.#tenure.checkpointed();
    return { stamp, month: monthOf(stamp / 1000) };
  }
}

/** Each tuple once. */
function revocationsIn(rows: readonly AuditLogRow[]): readonly Revocation[] {
  const found = new Map<string, Revocation>();
  for (const { change } of rows) {
    if (!change.startsWith('{"action":"grant.revoked"')) continue;
    const { subject, relation, object, grant_id: grantId }: Readonly<Record<string, unknown>> = JSON.parse(change);
    const tuple = parseTuple(subject, relation, object);
    found.set(tupleKey(tuple), { ...tuple, grantId: String(grantId) });
  }
  return [...found.values()];
}
