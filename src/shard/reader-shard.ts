// A shard that owns no slot: it only reads for tenants of the owners in its process. Everything but the reads of its
// readers is answered `wrong-owner` or `not-serving`, as at any shard that does not own the slot.

import type { Clock, Random } from '../core/async/clock.ts';
import { IdFactory } from '../core/ids.ts';
import type { Plans } from '../core/plans.ts';
import { decodeCursorSecrets } from '../core/text/cursors.ts';
import type { Meta, Store } from '../store/store.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { CommitCounts } from './log/commit-counts.ts';
import { Lookups } from './log/hot-pages.ts';
import { PAGE_LIMITS, READER_LIMITS, type ReaderLimits } from './memory/limits.ts';
import type { MemoryBudget } from './memory/memory-budget.ts';
import { reportShard } from './observers.ts';
import { Peers } from './peers/peers.ts';
import { noReadIndexes, type OwnerPort } from './readers/follow-tenant.ts';
import { Readers } from './readers/readers.ts';
import { type Shard, ShardFailure } from './shard.ts';

export interface ReaderShardDependencies {
  /** Only its reads are used. */
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: Metrics;
  readonly budget: MemoryBudget;
  readonly owners: OwnerPort;
  readonly commitCounts: CommitCounts;
}

export interface ReaderShardOptions {
  readonly shardName: string;
  readonly meta: Meta;
  readonly plans: Plans;
  /** The address of any owner, which names the right one. */
  readonly ownerAddress: string;
  /** Overrides of `READER_LIMITS`. */
  readonly readerLimits?: Partial<ReaderLimits> | undefined;
}

export interface ReaderShard extends Shard {
  /** Ends every reader and connection. */
  close(): void;
}

export function createReaderShard(
  dependencies: ReaderShardDependencies,
  { shardName, meta, plans, ownerAddress, readerLimits }: ReaderShardOptions,
): ReaderShard {
  const { store, clock, random, metrics } = dependencies;
  const { clusterId, slots, segmentSize, deadlineMs, leaseMs, cursorSecrets } = meta;
  const ids = new IdFactory(clock, random);
  const incarnation = ids.create('inc');
  const lookups = new Lookups();
  const readIndexes = noReadIndexes();
  const readers = new Readers({
    ...dependencies,
    pageLimits: PAGE_LIMITS,
    readerLimits: { ...READER_LIMITS, ...readerLimits },
    slots,
    ownerOf: () => ownerAddress,
  });
  const peers = new Peers({
    store,
    clock,
    ids,
    plans,
    secrets: decodeCursorSecrets(cursorSecrets),
    slots,
    segmentSize,
    tenureOf: (slot) => {
      throw new ShardFailure('not-serving', `Slot ${slot} has no owner in this thread.`);
    },
    tenures: () => new Map(),
    members: async () => [],
    report: () => ({ incarnation, shardName, leaseLeftMs: undefined, rows: [] }),
    lookups,
    readIndexes,
    readers,
    readersOf: () => 0,
    busiest: () => undefined,
    deadlineMs,
    onRefused: (code) => metrics.limitRefusals.inc({ type: code }),
  });
  const stopReporting = metrics.onRender(() => {
    readers.report();
    reportShard(metrics, { lookups, readIndexes, tenures: [], leaseLeftMs: Number.POSITIVE_INFINITY });
  });
  return {
    welcome: () => ({ incarnation, shardName, clusterId, slots, deadlineMs, leaseMs }),
    monotonicMs: () => clock.monotonicMs(),
    connect: () => peers.connect(),
    connectConsole: () => peers.connectConsole(),
    connectShard: () => peers.connectShard(),
    routes: () => ({ epochs: new Map() }),
    watchRoutes: (onChange) => peers.watchRoutes(onChange),
    close() {
      stopReporting();
      readers.close();
      peers.close();
    },
  };
}
