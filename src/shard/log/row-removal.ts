// Physical removal of obsolete rows: revoked grants and keys, records of deleted tenants, subjects without a grant. The
// rows that a segment of the log revoked are removed before the segment. Other leftovers, such as revoked rows that
// slow down reads, are removed in between, in bounded steps.
//
// No later write brings a row back: the state tables contain, behind the checkpoint, every entry up to the stamps that
// are removed, and later writes have greater stamps. A revoked key or a deleted tenant never comes back to life, but a
// subject can. Its row is removed only if the state tables have no grant of it, neither live nor tombstone, so it had
// none at the stamp. Its next first grant writes the row again, with a greater stamp (write-decisions.ts).

import type { Clock } from '../../core/async/clock.ts';
import { inParallel } from '../../core/async/in-parallel.ts';
import type { TenantId } from '../../core/ids.ts';
import { isLeaving } from '../../core/tenants.ts';
import type { RemovableRow, Stamp, Store } from '../../store/store.ts';
import { obsoleteRows } from '../log-changes.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import { storeDeadline, yieldTurn } from '../store-calls.ts';
import { decodeEntry, type Entry } from './entries.ts';
import type { Tenure } from './tenure.ts';

export interface MaintenancePorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly segmentSize: number;
  /** Entries younger than this, by the clocks, are kept. Outside tests at least an hour. */
  readonly logRetentionMs: number;
  readonly createRequestId: () => string;
}

/** Entries held at once: at most 16 MiB. */
const RECORDS_PER_READ = 16;
/** Rows removed in one call. */
const ROWS_PER_CALL = 500;
/** Subjects examined at once. */
const SUBJECTS_AT_ONCE = 16;
/** Rows of tenants and keys examined in one step. */
const ROWS_PER_STEP = 1000;
/**
 * The time per round that leftovers of one slot may take from the maintenance of the others, or one step if that takes
 * longer.
 */
const LEFTOVERS_MS_PER_ROUND = 250;
/** Pause after a failure: every replica has to take part, and one may be down. */
const LEFTOVERS_RETRY_MS = 60_000;

type RemovalPorts = Pick<MaintenancePorts, 'store' | 'clock'>;
type SubjectRow = Extract<RemovableRow, { readonly kind: 'subject' }>;

async function removeRows(
  { store, clock }: RemovalPorts,
  tenure: Tenure,
  rows: readonly RemovableRow[],
): Promise<void> {
  for (let start = 0; start < rows.length && tenure.serving; start += ROWS_PER_CALL) {
    await store.removeTombstones(rows.slice(start, start + ROWS_PER_CALL), storeDeadline(clock));
  }
}

/**
 * Removes what the entries from the front of the log up to `end` revoked or deleted. All must be behind the checkpoint.
 */
export async function removeRevoked(ports: RemovalPorts, tenure: Tenure, end: number): Promise<void> {
  const { store, clock } = ports;
  for (let seq = tenure.first; seq < end && tenure.serving; seq += RECORDS_PER_READ) {
    const limit = Math.min(RECORDS_PER_READ, end - seq);
    const subjects = new Map<string, SubjectRow>();
    for (const record of await store.readRecords(tenure.slot, seq, limit, storeDeadline(clock))) {
      const rows = rowsOf(tenure.slot, decodeEntry(record));
      await removeRows(ports, tenure, rows);
      for (const row of rows) {
        if (row.kind !== 'grant') continue;
        const { tenantId, subject, stamp } = row;
        subjects.set(`${tenantId} ${subject}`, { kind: 'subject', tenantId, subject, stamp });
      }
      await yieldTurn(clock);
    }
    await removeEmptySubjects(ports, tenure, [...subjects.values()]);
  }
}

function rowsOf(slot: number, entry: Entry): RemovableRow[] {
  const rows: RemovableRow[] = [];
  let stamp = entry.base;
  for (const { tenantId, changes } of entry.operations) {
    for (const change of changes) {
      rows.push(...obsoleteRows(change, tenantId, { slot, stamp }));
      stamp += 1;
    }
  }
  return rows;
}

/** Removes the candidates that have no grant. */
async function removeEmptySubjects(
  ports: RemovalPorts,
  tenure: Tenure,
  candidates: readonly SubjectRow[],
): Promise<void> {
  for (let start = 0; start < candidates.length && tenure.serving; start += ROWS_PER_CALL) {
    const empty: SubjectRow[] = [];
    await inParallel(candidates.slice(start, start + ROWS_PER_CALL), SUBJECTS_AT_ONCE, async (candidate) => {
      if (await hasNoGrant(ports, tenure, candidate)) empty.push(candidate);
    });
    await removeRows(ports, tenure, empty);
    await yieldTurn(ports.clock);
  }
}

/**
 * No grant row, not even a tombstone: the subject had no grant at the stamp, and the state tables contain no later one.
 */
async function hasNoGrant(
  { store, clock }: RemovalPorts,
  tenure: Tenure,
  { tenantId, subject }: SubjectRow,
): Promise<boolean> {
  const memory = tenure.tenants.get(tenantId);
  // The subject rows of a tenant that is being deleted record what is left to remove.
  if (memory === undefined || isLeaving(memory.tenant) || memory.pages.holdsSome(subject)) return false;
  const { grants, next } = await store.listGrants({ tenantId, subject, limit: 1 }, storeDeadline(clock));
  return grants.length === 0 && next === undefined;
}

/** Removes leftovers for a bounded time; the next round continues. */
export async function removeLeftovers(ports: RemovalPorts, tenure: Tenure): Promise<void> {
  const { clock } = ports;
  const startedMs = clock.monotonicMs();
  if (startedMs < tenure.leftovers.notBeforeMs) return;
  const goesOn = (): boolean => tenure.serving && clock.monotonicMs() - startedMs < LEFTOVERS_MS_PER_ROUND;
  try {
    await removeDeletedTenants(ports, tenure, goesOn);
    const { obsoleteRows } = tenure.due;
    for (const memory of [...obsoleteRows]) {
      if (!isLeaving(memory.tenant)) {
        await removeRevokedKeys(ports, tenure, memory, goesOn);
        await removeNotedSubjects(ports, tenure, memory);
      }
      const isDone = memory.keySweep === undefined && memory.emptySubjects === undefined;
      if (isDone || isLeaving(memory.tenant)) obsoleteRows.delete(memory);
      if (!goesOn()) return;
    }
  } catch (error) {
    tenure.leftovers.notBeforeMs = clock.monotonicMs() + LEFTOVERS_RETRY_MS;
    throw error;
  }
}

/** The stamp of the last commit, once everything up to it is in the state tables and behind the checkpoint. */
async function settledStamp(tenure: Tenure): Promise<Stamp> {
  const stamp = tenure.nextBase - 1;
  await tenure.checkpointed();
  return stamp;
}

async function removeDeletedTenants(ports: RemovalPorts, tenure: Tenure, goesOn: () => boolean): Promise<void> {
  const { store, clock } = ports;
  const { slot, leftovers } = tenure;
  if (leftovers.deletedTenants === undefined) return;
  const stamp = await settledStamp(tenure);
  let after: TenantId | undefined = leftovers.deletedTenants.after;
  do {
    const query = { slot, limit: ROWS_PER_STEP, ...(after === undefined ? {} : { after }) };
    const tenants = await store.listTenants(query, storeDeadline(clock));
    const deleted = tenants.filter(({ state }) => state === 'deleted');
    const rows = deleted.map(({ tenantId }): RemovableRow => ({ kind: 'tenant', slot, tenantId, stamp }));
    await removeRows(ports, tenure, rows);
    after = tenants.at(ROWS_PER_STEP - 1)?.tenantId;
    leftovers.deletedTenants = after === undefined ? undefined : { after };
    await yieldTurn(clock);
  } while (after !== undefined && goesOn());
}

async function removeRevokedKeys(
  ports: RemovalPorts,
  tenure: Tenure,
  memory: TenantMemory,
  goesOn: () => boolean,
): Promise<void> {
  const { store, clock } = ports;
  const { tenantId } = memory;
  if (memory.keySweep === undefined) return;
  const stamp = memory.keySweep.stamp ?? (await settledStamp(tenure));
  let { after } = memory.keySweep;
  do {
    const query = { tenantId, limit: ROWS_PER_STEP, ...(after === undefined ? {} : { after }) };
    const { revoked, next } = await store.listKeys(query, storeDeadline(clock));
    const rows = revoked.map((keyId): RemovableRow => ({ kind: 'key', tenantId, keyId, stamp }));
    await removeRows(ports, tenure, rows);
    after = next;
    memory.keySweep = after === undefined ? undefined : { stamp, after };
    await yieldTurn(clock);
  } while (after !== undefined && goesOn());
}

async function removeNotedSubjects(ports: RemovalPorts, tenure: Tenure, memory: TenantMemory): Promise<void> {
  const { emptySubjects, tenantId } = memory;
  if (emptySubjects === undefined) return;
  const stamp = await settledStamp(tenure);
  const candidates = Array.from(
    emptySubjects,
    (subject): SubjectRow => ({ kind: 'subject', tenantId, subject, stamp }),
  );
  await removeEmptySubjects(ports, tenure, candidates);
  if (memory.emptySubjects === emptySubjects) memory.emptySubjects = undefined;
}
