// What a shard reports about itself: log lines and metrics of its tenures, and gauges that are computed when the
// metrics are read.

import type { Clock } from '../core/async/clock.ts';
import { busiestOf, type Turns } from '../core/async/turns.ts';
import { parseTenantId } from '../core/ids.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Lookups } from './log/hot-pages.ts';
import type { Tenure, TenureDependencies } from './log/tenure.ts';
import type { RecentChanges } from './memory/recent-items.ts';
import type { ClockWatch } from './ownership/wall-clock.ts';
import { noReadIndexes, type ReadIndexes } from './readers/follow-tenant.ts';
import type { BusiestTenant } from './shard.ts';

/** The shard logs failing state writes, and waiting writes, at most once per interval: every slot keeps retrying. */
const FAILURE_LOG_MS = 10_000;

/** One set for all tenures of a shard. The observers call `wrote` after every successful append or state write. */
export function tenureObservers(
  metrics: Metrics,
  log: Log,
  clock: Clock,
  wrote: (part: 'append' | 'apply') => void,
): Pick<TenureDependencies, 'observeAppend' | 'observeState' | 'observeWait' | 'observePreload'> {
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  let waitLoggedAtMs = Number.NEGATIVE_INFINITY;
  return {
    observeAppend: ({ outcome, seconds, operations, expired }) => {
      metrics.appends.inc({ outcome });
      if (outcome !== 'committed') return;
      wrote('append');
      metrics.appendSeconds.observe(seconds);
      metrics.appendBatchOperations.observe(operations);
      if (expired > 0) metrics.grantsExpired.inc(expired);
    },
    observeState: (outcome) => {
      if ('rows' in outcome) {
        metrics.stateWrites.inc(outcome.rows);
        // An entry without rows causes no write.
        if (outcome.rows > 0) wrote('apply');
        return;
      }
      metrics.stateWriteFailures.inc();
      if (clock.monotonicMs() - loggedAtMs < FAILURE_LOG_MS) return;
      loggedAtMs = clock.monotonicMs();
      log.warn({ err: outcome.error }, 'cannot write the state tables; retrying');
    },
    observePreload: (outcome) => metrics.pagesPreloaded.inc({ result: outcome }),
    observeWait: (slot, kind) => {
      if (clock.monotonicMs() - waitLoggedAtMs < FAILURE_LOG_MS) return;
      waitLoggedAtMs = clock.monotonicMs();
      log.warn({ slot, kind }, 'writes are waiting: the memory for writes is full');
    },
  };
}

/** Among everything of the process that had to wait. */
export function busiestTenant({ crowding }: Pick<Turns, 'crowding'>, clock: Clock): BusiestTenant | undefined {
  const shares = crowding.shares(clock.monotonicMs());
  const busiest = busiestOf(new Map([...shares].filter(([key]) => parseTenantId(key) !== undefined)));
  return busiest && { tenantId: busiest.key, share: busiest.share };
}

function reportRecentChanges(metrics: Metrics, { bytes, waiting }: RecentChanges): void {
  metrics.recentChangesTenants.inc();
  metrics.recentChangesBytes.inc(bytes);
  metrics.changeCallsWaiting.inc(waiting);
}

/** How far the wall clock of this shard is from the others, and the time of its logs ahead of it, by the most. */
export function reportClocks(
  metrics: Metrics,
  { median, member, store }: ClockWatch['differencesMs'],
  tenures: Iterable<Tenure>,
): void {
  metrics.clockSkewSeconds.inc({ from: 'median' }, median / 1000);
  metrics.clockSkewSeconds.inc({ from: 'member' }, member / 1000);
  metrics.clockSkewSeconds.inc({ from: 'store' }, store / 1000);
  let aheadMs = 0;
  for (const { slotTime } of tenures) aheadMs = Math.max(aheadMs, slotTime.aheadMs);
  metrics.logAheadSeconds.inc(aheadMs / 1000);
}

/** `leaseLeftMs` infinite: the shard needs no lease. */
export function reportShard(
  metrics: Metrics,
  shard: {
    readonly lookups: Pick<Lookups, 'hits' | 'misses'>;
    readonly readIndexes: ReadIndexes;
    readonly tenures: Iterable<Tenure>;
    readonly leaseLeftMs: number;
  },
): void {
  const { lookups, readIndexes, leaseLeftMs } = shard;
  metrics.pageLookups.inc({ result: 'hit' }, lookups.hits);
  metrics.pageLookups.inc({ result: 'miss' }, lookups.misses);
  lookups.hits = 0;
  lookups.misses = 0;
  metrics.readIndexes.inc({ kind: 'position' }, readIndexes.positions);
  metrics.readIndexes.inc({ kind: 'commits' }, readIndexes.commits);
  metrics.readIndexes.inc({ kind: 'beginning' }, readIndexes.beginnings);
  Object.assign(readIndexes, noReadIndexes());
  if (Number.isFinite(leaseLeftMs)) metrics.leaseSeconds.inc(leaseLeftMs / 1000);
  let lagMs = 0;
  for (const tenure of shard.tenures) {
    const status = tenure.status();
    if (status === undefined) continue;
    metrics.shardSlots.inc({ state: status.state });
    metrics.shardQueueLength.inc(tenure.queueLength);
    metrics.checkpointLagEntries.inc(tenure.lagEntries);
    metrics.grants.inc(tenure.grants);
    for (const { recentChanges, followed } of tenure.due.followed) {
      if (recentChanges !== undefined) reportRecentChanges(metrics, recentChanges);
      if (followed) metrics.tenantsWithReaders.inc();
    }
    const { nowMs } = tenure.slotTime;
    for (const memory of tenure.expiring) lagMs = Math.max(lagMs, nowMs - memory.uncollectedMs);
  }
  metrics.expiryLagSeconds.inc(lagMs / 1000);
}
