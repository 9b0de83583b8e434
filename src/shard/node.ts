// A shard: the slots that its process owns now, and the connections of its peers. Its parts: the session (is this process
// alive, and may it answer), the membership (who else is), the ownership (which slots are its own), and a tenure per slot.
// It keeps: it answers only for a slot that it serves, in an epoch that it claimed, under a valid lease; and where another
// member has declared it dead, everything of that session ends before it joins again, as another incarnation.
//
// On the embedded store one process owns the data directory (a lock says so), so its incarnations are the only ones that
// can be alive: it is `exclusive`, `retireMembers` declares dead whatever an earlier run left, and no lease has to fence it.

import { type Clock, delay, type Random } from '../core/async/clock.ts';
import { decodeCursorSecrets } from '../core/cursors.ts';
import { IdFactory } from '../core/ids.ts';
import type { Plans } from '../core/plans.ts';
import type { Meta, SlotRow, Store } from '../store/store.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { keepCounting } from './log/grant-walk.ts';
import { keepMaintaining } from './log/maintenance.ts';
import { Tenure } from './log/tenure.ts';
import type { MemoryBudget } from './memory/memory-budget.ts';
import { PAGE_LIMITS, type PageLimits } from './memory/page-limits.ts';
import { type Lookups, reportShard, tenureObservers } from './observers.ts';
import { HealthWatch } from './ownership/health-watch.ts';
import { Membership } from './ownership/membership.ts';
import { Session } from './ownership/membership-lease.ts';
import { Ownership } from './ownership/ownership.ts';
import { declarePredecessors } from './ownership/predecessors.ts';
import { Peers } from './peers/peers.ts';
import type { MemberAddress, Routes, Shard, ShardWelcome } from './shard.ts';
import { storeDeadline } from './store-calls.ts';

export const LOG_RETENTION_MS_DEFAULT = 7 * 24 * 3_600_000;

/** How often slots are looked at while some are moving; else as often as members are. */
const MOVING_ROUND_MS = 50;
/** A shard that waits for others' slots for longer is ready all the same: what it serves, it serves. */
const READY_WAIT_MS_MAX = 30_000;
const MAINTENANCE_MS = 2000;

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
  /** As `MemberRow.place`; this process must be there already, and stay until `stop` has resolved. */
  readonly place?: string | undefined;
  readonly meta: Meta;
  readonly plans: Plans;
  /** The process holds the store alone: no lease, no beats, nobody is declared dead. */
  readonly exclusive?: boolean;
  /** Whether the process answers its own call over gRPC. */
  readonly loopBackHealthy?: () => boolean;
  /** Those that differ from `PAGE_LIMITS`. */
  readonly pageLimits?: Partial<PageLimits>;
  /** Default 7 days, at least an hour outside tests. */
  readonly logRetentionMs?: number;
  readonly maintenanceMs?: number;
}

export class ShardNode implements Shard {
  readonly #dependencies: ShardNodeDependencies;
  readonly #options: ShardNodeOptions;
  readonly #exclusive: boolean;
  readonly #ids: IdFactory;
  readonly #lookups: Lookups = { hits: 0, misses: 0 };
  readonly #observers: ReturnType<typeof tenureObservers>;
  readonly #health: HealthWatch;
  readonly #membership: Membership;
  readonly #ownership: Ownership;
  readonly #peers: Peers;
  /** The other living members, as fronts were last told. */
  #neighbours: readonly MemberAddress[] = [];
  #session: Session;
  #state: 'new' | 'running' | 'stopping' | 'stopped' = 'new';
  #ready = false;
  #settledAtMs: number | undefined;
  #storeFailing = false;
  #whenReady: (() => void)[] = [];
  #stopReporting: () => void = () => {};

  constructor(dependencies: ShardNodeDependencies, options: ShardNodeOptions) {
    const { store, clock, random, log, metrics } = dependencies;
    const { meta, shardName, exclusive = false } = options;
    this.#dependencies = dependencies;
    this.#options = options;
    this.#exclusive = exclusive;
    this.#ids = new IdFactory(clock, random);
    this.#membership = new Membership({ store, clock, log }, { leaseMs: meta.leaseMs });
    this.#health = this.#createHealthWatch();
    this.#observers = tenureObservers(metrics, log, clock, (part) => this.#health.wrote(part));
    this.#session = this.#newSession();
    this.#ownership = new Ownership(
      {
        store,
        clock,
        log,
        membership: this.#membership,
        createTenure: (row, session) => this.#createTenure(row, session),
        onRoutesChanged: () => {
          this.#lookWhetherReady();
          this.#peers.routesChanged();
        },
        onMoved: (kind) => {
          metrics.slotMoves.inc({ kind });
          // The first entry of its epoch stands in the log.
          if (kind === 'claimed') this.#health.wrote('append');
        },
      },
      { slots: meta.slots, shardName, exclusive },
    );
    this.#peers = new Peers({
      store,
      clock,
      ids: this.#ids,
      plans: options.plans,
      secrets: decodeCursorSecrets(meta.cursorSecrets),
      slots: meta.slots,
      tenureOf: (slot) => this.#tenureOf(slot),
      tenures: () => this.#ownership.tenures.values(),
      members: () => store.listMembers(storeDeadline(clock)),
      report: () => ({
        incarnation: this.incarnation,
        leaseLeftMs: exclusive ? undefined : this.leaseLeftMs,
        rows: this.#ownership.rows(),
      }),
      lookups: this.#lookups,
      deadlineMs: meta.deadlineMs,
      onRefused: (code) => metrics.limitRefusals.inc({ type: code }),
    });
  }

  /** Of the session that is on now. */
  get incarnation(): string {
    return this.#session.incarnation;
  }

  /** 0: it may not answer. Infinite where it needs no lease. */
  get leaseLeftMs(): number {
    return this.#session.leaseLeftMs;
  }

  /** Whether it has once served its share. */
  get ready(): boolean {
    return this.#ready;
  }

  /** What it cannot do, so that its slots go to others; undefined: it is healthy. */
  get unhealthyPart(): HealthWatch['unhealthyPart'] {
    return this.#health.unhealthyPart;
  }

  // ---- life ----

  /** Makes this incarnation known. Resolves when it has a lease, or is being stopped. */
  async join(): Promise<void> {
    const { place } = this.#options;
    const isThere = () => this.#state === 'new';
    if (place !== undefined) await declarePredecessors(this.#dependencies, { place, isThere });
    await this.#session.join();
  }

  /**
   * Claims and opens the slots that are this shard's, and goes on looking after them. Resolves when it serves its share, or
   * is being stopped. An exclusive one rejects where a slot cannot be opened.
   */
  async start(): Promise<void> {
    this.#state = 'running';
    this.#stopReporting = this.#dependencies.metrics.onRender(() => {
      const tenures = this.#ownership.tenures.values();
      reportShard(this.#dependencies.metrics, { lookups: this.#lookups, tenures, leaseLeftMs: this.leaseLeftMs });
      if (!this.#exclusive) this.#health.report();
    });
    if (this.#exclusive) await this.#startAlone();
    else void this.#health.run();
    void this.#watch();
    this.#maintain();
    if (this.#ready || this.#state !== 'running') return;
    await new Promise<void>((resolve) => {
      this.#whenReady.push(resolve);
    });
  }

  /** Hands every slot over, applied and checkpointed, and ends this incarnation. Waits for the store as long as it takes. */
  async stop(): Promise<void> {
    if (this.#state === 'stopping' || this.#state === 'stopped') return;
    const { store, clock, log } = this.#dependencies;
    const started = this.#state === 'running';
    this.#state = 'stopping';
    this.#stopReporting();
    this.#wakeReady();
    const session = this.#session;
    if (started && !this.#exclusive) await this.#drain(session);
    await this.#ownership.releaseAll(session);
    this.#state = 'stopped';
    this.#peers.close();
    try {
      await session.leave();
      if (this.#exclusive) await store.removeMember(session.incarnation, storeDeadline(clock));
    } catch (error) {
      log.warn({ err: error }, 'the member could not say that it leaves; the others find out when its lease has ended');
    }
  }

  /** The rounds go on, and hand the slots over; where nobody is there to take them, they are released. */
  async #drain(session: Session): Promise<void> {
    const { clock } = this.#dependencies;
    session.drain();
    this.#ownership.pace.leave(clock.monotonicMs());
    while (!session.ended && this.#ownership.tenures.size > 0) await delay(clock, MOVING_ROUND_MS);
  }

  async #startAlone(): Promise<void> {
    await this.#membership.scan();
    const before = this.#ownership.failures;
    while (this.#state === 'running') {
      await this.#ownership.round(this.#session);
      await this.#ownership.idle();
      const failures = this.#ownership.failures - before;
      if (failures > 0) throw new Error(`${failures} slots could not be opened; the log says why.`);
      if (this.#lookWhetherReady()) return;
    }
  }

  async #watch(): Promise<void> {
    const { clock, log } = this.#dependencies;
    let scannedAtMs = Number.NEGATIVE_INFINITY;
    while (this.#state !== 'stopped') {
      const session = this.#session;
      const scanMs = this.#membership.scanMs(session.incarnation);
      const nowMs = clock.monotonicMs();
      try {
        if (nowMs - scannedAtMs >= scanMs || session.state === 'joining' || this.#ownership.pace.awaitsScan(nowMs)) {
          scannedAtMs = nowMs;
          await this.#membership.scan();
          this.#ownership.pace.scanned(nowMs);
          this.#lookForNeighbours();
          if (!this.#exclusive && session.leaseValid) {
            await this.#membership.declareSilent(session);
            await this.#membership.removeDead(session);
          }
        }
        await this.#ownership.round(session);
        this.#lookWhetherReady();
        this.#storeFailing = false;
      } catch (error) {
        if (!this.#storeFailing) log.warn({ err: error }, 'members and slots cannot be looked at; trying again');
        this.#storeFailing = true;
      }
      await delay(clock, this.#ownership.moving || this.#state === 'stopping' ? MOVING_ROUND_MS : scanMs);
    }
  }

  #lookWhetherReady(): boolean {
    const nowMs = this.#dependencies.clock.monotonicMs();
    if (this.#ownership.settled) this.#settledAtMs ??= nowMs;
    const waitedMs = nowMs - (this.#settledAtMs ?? nowMs);
    if (!this.#ready && (this.#ownership.complete || waitedMs > READY_WAIT_MS_MAX)) {
      this.#ready = true;
      this.#wakeReady();
    }
    return this.#ready;
  }

  #wakeReady(): void {
    for (const resolve of this.#whenReady.splice(0)) resolve();
  }

  #maintain(): void {
    const ports = {
      ...this.#dependencies,
      segmentSize: this.#options.meta.segmentSize,
      logRetentionMs: this.#options.logRetentionMs ?? LOG_RETENTION_MS_DEFAULT,
      createRequestId: () => this.#ids.create('req'),
    };
    const roundMs = this.#options.maintenanceMs ?? MAINTENANCE_MS;
    const tenures = () => (this.#state === 'running' ? this.#ownership.tenures.values() : undefined);
    void keepCounting(ports, roundMs, tenures);
    void keepMaintaining(ports, roundMs, tenures);
  }

  #createHealthWatch(): HealthWatch {
    return new HealthWatch({
      ...this.#dependencies,
      tenures: () => this.#ownership.tenures.values(),
      steadySinceMs: () => this.#session.steadySinceMs,
      othersProvenAtMs: () => this.#membership.othersProvenAtMs(this.incarnation),
      loopBackHealthy: this.#options.loopBackHealthy ?? (() => true),
      reopen: (tenure, reason) => this.#loseTenure(tenure, reason),
      stopped: () => this.#state !== 'running',
    });
  }

  #newSession(): Session {
    const { store, clock, log, metrics } = this.#dependencies;
    const { shardName, address, place, meta } = this.#options;
    const incarnation = this.#ids.create('inc');
    return new Session(
      {
        store,
        clock,
        log,
        health: this.#health,
        observe: ({ outcome, seconds }) => metrics.beatSeconds.observe({ outcome }, seconds),
        onEnded: (reason) => this.#joinAgain(reason),
      },
      { incarnation, shardName, address, place, leaseMs: meta.leaseMs, exclusive: this.#exclusive },
    );
  }

  /** Another member has declared this one dead: whatever it owned may be served elsewhere by now. */
  #joinAgain(reason: string): void {
    const { log, metrics } = this.#dependencies;
    metrics.sessionsLost.inc();
    log.error({ incarnation: this.incarnation, reason }, 'the session is over');
    this.#ownership.endAll(reason);
    if (this.#state === 'stopping' || this.#state === 'stopped') return;
    this.#session = this.#newSession();
    log.info({ incarnation: this.incarnation }, 'joining again');
    void this.#session.join();
  }

  #createTenure(row: SlotRow, session: Session): Tenure {
    const { store, clock, budget } = this.#dependencies;
    const { segmentSize, deadlineMs } = this.#options.meta;
    const tenure: Tenure = new Tenure(row, session.incarnation, {
      store,
      clock,
      ids: this.#ids,
      budget,
      pageLimits: { ...PAGE_LIMITS, ...this.#options.pageLimits },
      segmentSize,
      operationsKeptMs: 2 * deadlineMs,
      leaseValid: () => session.leaseValid,
      ...this.#observers,
      onLost: (reason) => this.#loseTenure(tenure, reason),
    });
    return tenure;
  }

  #loseTenure(tenure: Tenure, reason: string): void {
    tenure.end(reason);
    this.#dependencies.log.error({ slot: tenure.slot, epoch: tenure.epoch, reason }, 'the slot was lost');
    this.#ownership.lose(tenure);
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

  readonly connect = () => this.#peers.connect();
  readonly connectConsole = () => this.#peers.connectConsole();

  routes(): Routes {
    const epochs = new Map<number, number>();
    for (const { slot, epoch, serving } of this.#ownership.tenures.values()) if (serving) epochs.set(slot, epoch);
    return { epochs, members: this.#neighbours };
  }

  watchRoutes(onChange: () => void): () => void {
    return this.#peers.watchRoutes(onChange);
  }

  /** Fronts may look for the other slots at whoever lives. */
  #lookForNeighbours(): void {
    const neighbours = this.#membership.neighboursOf(this.incarnation);
    if (JSON.stringify(neighbours) === JSON.stringify(this.#neighbours)) return;
    this.#neighbours = neighbours;
    this.#peers.routesChanged();
  }

  #tenureOf(slot: number): Tenure {
    const tenure = this.#ownership.tenures.get(slot);
    if (tenure !== undefined) {
      tenure.assertServing();
      return tenure;
    }
    throw this.#ownership.notServing(slot, this.incarnation);
  }
}

export const createShardNode = (dependencies: ShardNodeDependencies, options: ShardNodeOptions): ShardNode =>
  new ShardNode(dependencies, options);
