// Maintenance of a tenure, between requests: trims the log, removes the data of deleted tenants and obsolete rows
// (row-removal.ts), and stores the last uses of keys, the usage of tenants and the list of hot pages. Each task does a
// bounded part at a time and can be interrupted anywhere: it finds unfinished work again.

import { delay } from '../../core/async/clock.ts';
import { segmentOf } from '../../core/slots.ts';
import { isLeaving } from '../../core/tenants.ts';
import type { Log } from '../../telemetry/log.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import { storeDeadline, yieldTurn } from '../store-calls.ts';
import { decodeEntry, wallStamp } from './entries.ts';
import { type MaintenancePorts, removeLeftovers, removeRevoked } from './row-removal.ts';
import type { Tenure } from './tenure.ts';
import { storeDueUsage } from './usage-store.ts';
import { decideTenantUpdate } from './write-decisions.ts';

/** `last_used_at` of a key is written at most this often. */
export const KEY_USE_WRITE_MS = 5 * 60_000;
const REQUEST_MS = 10_000;
/** UTF-8 bytes of an operation on a tenant. Its longest part is the name: 256 code points, each escaped. */
const TENANT_OPERATION_BYTES = 8 * 1024;
/**
 * Minimum age of a trimmed entry by its owner's monotonic clock, whatever wall clocks say. A process that reads the
 * log, to take over a slot or to copy it, has an hour.
 */
const TRIM_AGE_MS_MIN = 3_600_000;
/** The trimmer checks the log once per this many rounds. */
const TRIM_ROUNDS = 30;
/** The time per round that deleted tenants of one slot may take from the maintenance of the others. */
const PURGE_MS_PER_ROUND = 1000;

/** Runs rounds with pauses between them, until `tenures` returns undefined. */
export async function keepMaintaining(
  ports: MaintenancePorts & { readonly log: Log },
  roundMs: number,
  tenures: () => Iterable<Tenure> | undefined,
): Promise<void> {
  for (let round = 0; ; round += 1) {
    for (const tenure of [...(tenures() ?? [])]) {
      if (tenures() === undefined) return;
      await maintain(ports, tenure, { trim: round % TRIM_ROUNDS === 0 });
    }
    if (tenures() === undefined) return;
    await delay(ports.clock, roundMs);
  }
}

/** One round. Logs a failure; the next round retries. */
export async function maintain(
  ports: MaintenancePorts & { readonly log: Log },
  tenure: Tenure,
  options: { readonly trim: boolean },
): Promise<void> {
  if (!tenure.serving) return;
  try {
    await purgeTenants(ports, tenure);
    await writeKeyUses(ports, tenure);
    await tenure.hotPages.store();
    await storeDueUsage(ports, tenure.due);
    if (options.trim && tenure.restored) await trimLog(ports, tenure);
    await removeLeftovers(ports, tenure);
  } catch (error) {
    ports.log.warn({ slot: tenure.slot, err: error }, 'maintenance was interrupted; the next round continues');
  }
}

/**
 * Removes whole segments from the front of the log. A segment can go if the state tables contain it and it is not the
 * last one. It must also be older than the retention, and precede the idempotency window that a stored checkpoint
 * records. First it physically removes the rows that the segment revoked. Resolves with the number of segments removed.
 */
export async function trimLog(ports: MaintenancePorts, tenure: Tenure): Promise<number> {
  const { store, clock, segmentSize } = ports;
  const { slot, owner, epoch } = tenure;
  let removed = 0;
  while (tenure.serving) {
    const segment = segmentOf(tenure.first, segmentSize);
    const next = (segment + 1) * segmentSize;
    if (next > tenure.checkpointSeq || next > tenure.windowFrom) return removed;
    if (segmentOf(tenure.lastSeq, segmentSize) <= segment || !(await isOld(ports, tenure, next - 1))) return removed;
    await removeRevoked(ports, tenure, next);
    if (!tenure.serving) return removed;
    const outcome = await store.recordFirst({ slot, owner, epoch, first: next }, storeDeadline(clock));
    if (!outcome.applied && outcome.row?.first !== next) return removed;
    tenure.first = next;
    await store.removeSegment(slot, segment, storeDeadline(clock));
    // Left behind if an earlier round was interrupted between the two calls.
    if (segment > 0) await store.removeSegment(slot, segment - 1, storeDeadline(clock));
    removed += 1;
    await yieldTurn(clock);
  }
  return removed;
}

/** Whether everything up to `seq`, in the first segment of the log, is old enough. */
async function isOld(
  { store, clock, logRetentionMs }: MaintenancePorts,
  tenure: Tenure,
  seq: number,
): Promise<boolean> {
  for (let at = seq; at >= tenure.first; at -= 1) {
    const record = await store.readRecord(tenure.slot, at, storeDeadline(clock));
    if (record === undefined) return false;
    const age = tenure.time?.ageOf(record, decodeEntry(record));
    if (age === undefined) continue;
    return age.byWallMs >= logRetentionMs && age.atLeastMs >= Math.min(logRetentionMs, TRIM_AGE_MS_MIN);
  }
  return false;
}

/** Removes the data of tenants that are being deleted, for a bounded time, then marks them as deleted. */
export async function purgeTenants(ports: MaintenancePorts, tenure: Tenure): Promise<void> {
  const untilMs = ports.clock.monotonicMs() + PURGE_MS_PER_ROUND;
  for (const memory of [...tenure.due.deleting]) {
    if (!tenure.serving || ports.clock.monotonicMs() >= untilMs) return;
    await purgeTenant(ports, tenure, memory, untilMs);
  }
}

async function purgeTenant(
  ports: MaintenancePorts,
  tenure: Tenure,
  memory: TenantMemory,
  untilMs: number,
): Promise<void> {
  const { store, clock } = ports;
  if (memory.removal === undefined) {
    // Before its rows are removed, all commits of the tenant are in the state tables and behind the checkpoint. So no
    // later write and no replay brings a row back.
    await tenure.checkpointed();
    // The log's time runs ahead of a wall clock that was set back, but key uses are stamped by the wall clock.
    const stamp = Math.max(tenure.nextBase, wallStamp(clock));
    memory.removal = { stamp, partsRemoved: 0, lastPartAtMs: undefined };
  }
  const { stamp } = memory.removal;
  while (!(await store.purgeTenant({ slot: tenure.slot, tenantId: memory.tenantId }, stamp, storeDeadline(clock)))) {
    memory.removal = { stamp, partsRemoved: memory.removal.partsRemoved + 1, lastPartAtMs: clock.wallMs() };
    if (!tenure.serving || clock.monotonicMs() >= untilMs) return;
    await yieldTurn(clock);
  }
  await tenure.submit({
    tenantId: memory.tenantId,
    actor: 'system',
    requestId: ports.createRequestId(),
    index: 0,
    expiresAtMs: clock.monotonicMs() + REQUEST_MS,
    bytesMax: TENANT_OPERATION_BYTES,
    decide: decideTenantUpdate(memory, { name: undefined, plan: undefined, state: 'deleted' }),
  });
}

/** Stores the last uses of keys that have not been stored for five minutes. */
export async function writeKeyUses(ports: MaintenancePorts, tenure: Tenure): Promise<void> {
  const { usedKeys } = tenure.due;
  for (const memory of [...usedKeys]) {
    await writeUsesOf(ports, memory);
    if (isLeaving(memory.tenant) || !memory.keyUses.values().some(({ listed }) => listed)) usedKeys.delete(memory);
  }
}

async function writeUsesOf({ store, clock }: MaintenancePorts, memory: TenantMemory): Promise<void> {
  for (const [keyId, use] of memory.keyUses) {
    // A key use that is written after the tenant's rows were removed would remain.
    if (isLeaving(memory.tenant)) return;
    if (!use.listed) continue;
    if (use.usedAtMs <= use.writtenAtMs) use.listed = false;
    else if (clock.wallMs() - use.writtenAtMs >= KEY_USE_WRITE_MS) {
      const nowMs = clock.wallMs();
      await store.writeKeyUse(memory.tenantId, keyId, use.usedAtMs, storeDeadline(clock));
      use.writtenAtMs = nowMs;
    }
  }
}
