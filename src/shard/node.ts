// A shard: one incarnation of a shard process, the slots it owns and the connections of its peers. It registers itself
// as a member, claims the slots for which it is the wanted owner, and keeps trying those that it could not open.
//
// On the embedded store one process owns the data directory (a lock says so), so its incarnations are the only ones that
// can be alive: `retireMembers` declares dead whatever an earlier run left, and no lease is needed to fence it.

import { assert } from '../core/assert.ts';
import type { Clock, Random } from '../core/clock.ts';
import type { CursorSecrets } from '../core/cursors.ts';
import { IdFactory } from '../core/ids.ts';
import type { Plans } from '../core/plans.ts';
import { rankShards } from '../core/slots.ts';
import type { MemberRow, Meta, Store } from '../store/store.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { Connection, type ConnectionDependencies } from './connection.ts';
import { purgeTenants, trimLog, writeKeyUses } from './maintenance.ts';
import type { MemoryBudget } from './memory-budget.ts';
import { claimSlot } from './recovery.ts';
import { type Routes, type Shard, type ShardConnection, ShardFailure, type ShardWelcome } from './shard.ts';
import { delay, storeDeadline } from './store-calls.ts';
import { SUBJECT_ROWS_MAX_DEFAULT } from './subject-page.ts';
import { Tenure, type TenureDependencies } from './tenure.ts';

export const LOG_RETENTION_MS_DEFAULT = 7 * 24 * 3_600_000;

/** Slots that are opened at once. */
const OPENINGS_MAX = 32;
const RECONCILE_MS = 1000;
const MAINTENANCE_MS = 2000;
/** The trimmer looks at the log once in so many rounds of maintenance. */
const TRIM_ROUNDS = 30;

export interface ShardNodeDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Of the process: its shards share one bound. */
  readonly budget: MemoryBudget;
}

export interface ShardNodeOptions {
  /** Stable over restarts, distinct per shard. */
  readonly shardName: string;
  /** host:port under which fronts reach its gRPC server. */
  readonly address: string;
  readonly meta: Meta;
  readonly plans: Plans;
  /** Rows of a subject up to which it is held in memory whole. */
  readonly subjectRowsMax?: number;
  /** Default 7 days, at least an hour outside tests. */
  readonly logRetentionMs?: number;
  readonly maintenanceMs?: number;
}

/** Declares every member dead that the store knows. Only for a process that holds the store alone. */
export async function retireMembers(store: Store, clock: Clock): Promise<void> {
  for (const { incarnation, beat, state } of await store.listMembers(storeDeadline(clock))) {
    if (state !== 'dead') await store.declareDead({ incarnation, beat }, storeDeadline(clock));
    await store.removeMember(incarnation, storeDeadline(clock));
  }
}

export class ShardNode implements Shard {
  readonly incarnation: string;
  readonly #dependencies: ShardNodeDependencies;
  readonly #options: ShardNodeOptions;
  readonly #ids: IdFactory;
  readonly #lookups = { hits: 0, misses: 0 };
  readonly #tenures = new Map<number, Tenure>();
  readonly #opening = new Set<number>();
  readonly #watchers = new Set<() => void>();
  readonly #connections = new Set<Connection>();
  readonly #connectionDependencies: ConnectionDependencies;
  #wanted: ReadonlySet<number> = new Set();
  #members: readonly MemberRow[] = [];
  #stopping = false;
  #openings: Promise<unknown> = Promise.resolve();
  #stopReporting: () => void = () => {};

  constructor(dependencies: ShardNodeDependencies, options: ShardNodeOptions) {
    this.#dependencies = dependencies;
    this.#options = options;
    this.#ids = new IdFactory(dependencies.clock, dependencies.random);
    this.incarnation = this.#ids.create('inc');
    this.#connectionDependencies = {
      store: dependencies.store,
      clock: dependencies.clock,
      ids: this.#ids,
      plans: options.plans,
      secrets: cursorSecrets(options.meta),
      slots: options.meta.slots,
      tenureOf: (slot) => this.#tenureOf(slot),
      tenures: () => this.#tenures.values(),
      members: () => dependencies.store.listMembers(storeDeadline(dependencies.clock)),
      lookups: this.#lookups,
    };
  }

  // ---- life ----

  /** Makes this incarnation known. */
  async join(): Promise<void> {
    const { store, clock } = this.#dependencies;
    const member: MemberRow = {
      incarnation: this.incarnation,
      shardName: this.#options.shardName,
      address: this.#options.address,
      state: 'alive',
      beat: 0,
      startedAtMs: clock.wallMs(),
    };
    const outcome = await store.insertMember(member, storeDeadline(clock));
    assert(outcome.applied, 'an incarnation is inserted once');
  }

  /** Claims and opens the slots that are this shard's among the members that have joined. Resolves when all are served. */
  async start(): Promise<void> {
    await this.#readMembers();
    const failures = await this.#openWanted();
    if (this.#stopping) return;
    if (failures > 0)
      throw new Error(`${failures} of ${this.#wanted.size} slots could not be opened; the log says why.`);
    this.#stopReporting = this.#dependencies.metrics.onRender(() => this.#reportMetrics());
    void this.#reconcile();
    void this.#maintain();
  }

  /** Hands back every slot, applied and checkpointed, and ends this incarnation. */
  async stop(): Promise<void> {
    const { store, clock, log } = this.#dependencies;
    this.#stopping = true;
    this.#stopReporting();
    // What is being opened was claimed: it is finished, and released like the rest.
    await this.#openings;
    await Promise.all([...this.#tenures.values()].map((tenure) => this.#release(tenure)));
    for (const connection of this.#connections) connection.close();
    try {
      await store.declareDead({ incarnation: this.incarnation, beat: 0 }, storeDeadline(clock));
      await store.removeMember(this.incarnation, storeDeadline(clock));
    } catch (error) {
      log.warn({ err: error }, 'the member row could not be removed; the next start does it');
    }
  }

  async #readMembers(): Promise<void> {
    const { store, clock } = this.#dependencies;
    this.#members = await store.listMembers(storeDeadline(clock));
    const alive = this.#members.filter(({ state }) => state === 'alive');
    // An incarnation that was declared dead is dead for good: it claims nothing any more.
    const joined = alive.some(({ incarnation }) => incarnation === this.incarnation);
    const names = alive.map(({ shardName }) => shardName);
    const { slots } = this.#options.meta;
    const all = joined ? Array.from({ length: slots }, (_, slot) => slot) : [];
    this.#wanted = new Set(all.filter((slot) => rankShards(names, slot)[0] === this.#options.shardName));
  }

  #missing(): number[] {
    return [...this.#wanted].filter((slot) => !this.#tenures.has(slot) && !this.#opening.has(slot));
  }

  /** Resolves with how many could not be opened. */
  async #openWanted(): Promise<number> {
    const waiting = this.#missing();
    if (waiting.length === 0) return 0;
    let failures = 0;
    const openNext = async (): Promise<void> => {
      for (let slot = waiting.shift(); slot !== undefined && !this.#stopping; slot = waiting.shift()) {
        if (!(await this.#open(slot))) failures += 1;
      }
    };
    const openings = Promise.all(Array.from({ length: OPENINGS_MAX }, openNext));
    this.#openings = openings;
    await openings;
    this.#routesChanged();
    return failures;
  }

  async #open(slot: number): Promise<boolean> {
    const { clock, store, log } = this.#dependencies;
    this.#opening.add(slot);
    try {
      const alive = new Set(
        this.#members.filter(({ state }) => state !== 'dead').map(({ incarnation }) => incarnation),
      );
      const row = await claimSlot({ store, clock }, slot, this.incarnation, (owner) => !alive.has(owner));
      if (row === undefined) return false;
      const tenure = new Tenure(row, this.incarnation, this.#tenureDependencies());
      this.#tenures.set(slot, tenure);
      try {
        await tenure.open();
      } catch (error) {
        this.#tenures.delete(slot);
        throw error;
      }
      return true;
    } catch (error) {
      log.error({ slot, err: error }, 'the slot could not be opened');
      return false;
    } finally {
      this.#opening.delete(slot);
    }
  }

  async #release(tenure: Tenure): Promise<void> {
    const { store, clock, log } = this.#dependencies;
    const { slot, owner, epoch } = tenure;
    await tenure.release();
    this.#tenures.delete(slot);
    this.#routesChanged();
    try {
      await store.releaseSlot({ slot, owner, epoch, successor: undefined }, storeDeadline(clock));
    } catch (error) {
      log.warn({ slot, err: error }, 'the release of the slot is not confirmed; its member row ends all the same');
    }
  }

  /** Opens again what was lost or could not be opened. */
  async #reconcile(): Promise<void> {
    const { clock, log } = this.#dependencies;
    while (!this.#stopping) {
      await delay(clock, RECONCILE_MS);
      if (this.#stopping) return;
      try {
        // Who may be dispossessed is asked anew: whoever took a slot over meanwhile is alive.
        if (this.#missing().length > 0) await this.#readMembers();
        await this.#openWanted();
      } catch (error) {
        log.warn({ err: error }, 'the slots could not be looked at; trying again');
      }
    }
  }

  async #maintain(): Promise<void> {
    const { store, clock, log } = this.#dependencies;
    const ports = {
      store,
      clock,
      segmentSize: this.#options.meta.segmentSize,
      logRetentionMs: this.#options.logRetentionMs ?? LOG_RETENTION_MS_DEFAULT,
      createRequestId: () => this.#ids.create('req'),
    };
    for (let round = 0; !this.#stopping; round += 1) {
      for (const tenure of [...this.#tenures.values()]) {
        if (!tenure.serving || this.#stopping) continue;
        tenure.forgetOperations();
        try {
          await purgeTenants(ports, tenure);
          await writeKeyUses(ports, tenure);
          if (round % TRIM_ROUNDS === 0 && tenure.recalled) await trimLog(ports, tenure);
        } catch (error) {
          log.warn({ slot: tenure.slot, err: error }, 'maintenance was cut short; the next round goes on');
        }
      }
      await delay(clock, this.#options.maintenanceMs ?? MAINTENANCE_MS);
    }
  }

  #tenureDependencies(): TenureDependencies {
    const { store, clock, log, metrics } = this.#dependencies;
    const { segmentSize, deadlineMs } = this.#options.meta;
    return {
      store,
      clock,
      ids: this.#ids,
      budget: this.#dependencies.budget,
      subjectRowsMax: this.#options.subjectRowsMax ?? SUBJECT_ROWS_MAX_DEFAULT,
      segmentSize,
      operationsKeptMs: 2 * deadlineMs,
      observeAppend: ({ outcome, seconds, operations }) => {
        metrics.appends.inc({ outcome });
        if (outcome !== 'committed') return;
        metrics.appendSeconds.observe(seconds);
        metrics.appendBatchOperations.observe(operations);
      },
      observeState: (outcome) => {
        if ('rows' in outcome) {
          metrics.stateWrites.inc(outcome.rows);
        } else {
          metrics.stateWriteFailures.inc();
          log.warn({ err: outcome.error }, 'the state tables could not be written; trying again');
        }
      },
      onLost: (tenure, reason) => {
        log.error({ slot: tenure.slot, epoch: tenure.epoch, reason }, 'the slot was lost');
        if (this.#tenures.get(tenure.slot) === tenure) this.#tenures.delete(tenure.slot);
        this.#routesChanged();
      },
    };
  }

  // ---- the port ----

  welcome(): ShardWelcome {
    const { meta, shardName } = this.#options;
    const { slots, deadlineMs, leaseMs } = meta;
    return { incarnation: this.incarnation, shardName, slots, deadlineMs, leaseMs };
  }

  monotonicMs(): number {
    return this.#dependencies.clock.monotonicMs();
  }

  connect(peer: { readonly kind: 'front' | 'console'; readonly name: string }): ShardConnection {
    const connection = new Connection(this.#connectionDependencies, peer.kind, () =>
      this.#connections.delete(connection),
    );
    this.#connections.add(connection);
    return connection;
  }

  routes(): Routes {
    const epochs = new Map<number, number>();
    for (const { slot, epoch, serving } of this.#tenures.values()) if (serving) epochs.set(slot, epoch);
    return { epochs };
  }

  watchRoutes(onChange: () => void): () => void {
    this.#watchers.add(onChange);
    return () => this.#watchers.delete(onChange);
  }

  #routesChanged(): void {
    for (const onChange of this.#watchers) onChange();
  }

  #tenureOf(slot: number): Tenure {
    const tenure = this.#tenures.get(slot);
    if (tenure !== undefined) {
      tenure.assertServing();
      return tenure;
    }
    if (this.#wanted.has(slot)) throw new ShardFailure('not-serving', `Slot ${slot} is not open yet.`);
    const [name] = rankShards(
      this.#members.map(({ shardName }) => shardName),
      slot,
    );
    const owner = this.#members.find(({ shardName }) => shardName === name);
    throw new ShardFailure(
      'wrong-owner',
      `Slot ${slot} belongs to another shard.`,
      owner && { slot, epoch: 0, incarnation: owner.incarnation, address: owner.address },
    );
  }

  #reportMetrics(): void {
    const { metrics } = this.#dependencies;
    metrics.pageLookups.inc({ result: 'hit' }, this.#lookups.hits);
    metrics.pageLookups.inc({ result: 'miss' }, this.#lookups.misses);
    this.#lookups.hits = 0;
    this.#lookups.misses = 0;
    for (const tenure of this.#tenures.values()) {
      const status = tenure.status();
      if (status === undefined) continue;
      metrics.shardSlots.inc({ state: status.state });
      metrics.shardQueueLength.inc(tenure.queueLength);
      metrics.checkpointLagEntries.inc(tenure.lagEntries);
    }
  }
}

export function createShardNode(dependencies: ShardNodeDependencies, options: ShardNodeOptions): ShardNode {
  return new ShardNode(dependencies, options);
}

function cursorSecrets(meta: Meta): CursorSecrets {
  const [current, ...previous] = meta.cursorSecrets.map((text) => Buffer.from(text, 'base64url'));
  assert(current !== undefined, 'the cluster has a cursor secret');
  return [current, ...previous];
}
