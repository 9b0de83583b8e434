// A shard: the slots that its process owns now, and the connections of its peers. It wires the parts together: the
// membership lease (is this process alive, may it answer), the membership (who else is alive), the ownership (which
// slots it owns), one tenure per slot, and the watch loop that drives them. `StoreSharing` decides whether the shard
// shares its store with other shards or has it alone.
//
// Invariant: the shard answers only for a slot that it serves, in an epoch that it claimed, under a valid lease. If
// another member declares it dead, everything of that session ends before the shard joins again as a new incarnation.

import type { Clock, Random } from '../core/async/clock.ts';
import { IdFactory } from '../core/ids.ts';
import type { Plans } from '../core/plans.ts';
import { slotOfTenant } from '../core/slots.ts';
import { decodeCursorSecrets } from '../core/text/cursors.ts';
import type { Meta, SlotRow, Store } from '../store/store.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { CommitCounts } from './log/commit-counts.ts';
import { keepCollecting } from './log/grant-collection.ts';
import { Lookups } from './log/hot-pages.ts';
import { keepMaintaining } from './log/maintenance.ts';
import { outlastMs, QuietPromises } from './log/quiet-promises.ts';
import { Tenure } from './log/tenure.ts';
import { PAGE_LIMITS, type PageLimits, READER_LIMITS, type ReaderLimits } from './memory/limits.ts';
import type { MemoryBudget } from './memory/memory-budget.ts';
import { busiestTenant, reportClocks, reportShard, tenureObservers } from './observers.ts';
import { HealthWatch } from './ownership/health.ts';
import { Membership } from './ownership/membership.ts';
import { MembershipLease } from './ownership/membership-lease.ts';
import { Ownership, type SuccessorPort } from './ownership/ownership.ts';
import { declarePredecessors, findPredecessors } from './ownership/predecessors.ts';
import { Readiness } from './ownership/readiness.ts';
import { createSharing, type StoreSharing } from './ownership/store-sharing.ts';
import { ClockWatch, WallClock } from './ownership/wall-clock.ts';
import { WatchLoop } from './ownership/watch-loop.ts';
import { Peers } from './peers/peers.ts';
import { noReadIndexes, type OwnerPort } from './readers/follow-tenant.ts';
import { ReaderChoice } from './readers/reader-choice.ts';
import { Readers } from './readers/readers.ts';
import { FRONTS_TOLD_MAX, type Routes, type Shard, type ShardWelcome } from './shard.ts';
import { storeDeadline } from './store-calls.ts';

export const CLOCK_SKEW_MS_MAX_DEFAULT = 10_000;
export const LOG_RETENTION_MS_DEFAULT = 7 * 24 * 3_600_000;

const MAINTENANCE_MS = 2000;

export interface ShardNodeDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  /** The other shards, whose tenants this one may read for. */
  readonly owners: OwnerPort & SuccessorPort;
  /** See `TenureDependencies`: only if the shard has its store alone. */
  readonly commitCounts?: CommitCounts | undefined;
  /** All shards of the process share this one budget. */
  readonly budget: MemoryBudget;
}

export interface ShardNodeOptions {
  /** Stays the same across restarts; distinct per shard. */
  readonly shardName: string;
  /** The host:port at which fronts reach its gRPC server. */
  readonly address: string;
  /** See `MemberRow.place`. This process must already be there, and must stay until `stop` has resolved. */
  readonly place?: string | undefined;
  readonly meta: Meta;
  readonly plans: Plans;
  /** Whether only this process uses the store: see store-sharing.ts. */
  readonly exclusive?: boolean;
  /** Whether the loop-back check succeeds: the process answers its own gRPC call. */
  readonly loopBackHealthy?: () => boolean;
  /** How far the wall clock may be from the others: see wall-clock.ts. Default: 10 s. */
  readonly clockSkewMsMax?: number | undefined;
  /** Called when the start waits because of the clock of this process, with the reason, and when it no longer does. */
  readonly onClock?: (problem: string | undefined) => void;
  /** Overrides of `PAGE_LIMITS`. */
  readonly pageLimits?: Partial<PageLimits>;
  /** Overrides of `READER_LIMITS`. */
  readonly readerLimits?: Partial<ReaderLimits> | undefined;
  /** Default: 7 days. Outside tests at least an hour. */
  readonly logRetentionMs?: number;
  readonly maintenanceMs?: number;
  /** See `TenureDependencies`. */
  readonly hotPagesWriteMs?: number;
}

export class ShardNode implements Shard {
  readonly #dependencies: ShardNodeDependencies;
  readonly #options: ShardNodeOptions;
  readonly #ids: IdFactory;
  readonly #lookups = new Lookups();
  readonly #readIndexes = noReadIndexes();
  readonly #promises: QuietPromises;
  readonly #observers: ReturnType<typeof tenureObservers>;
  readonly #health: HealthWatch;
  readonly #membership: Membership;
  readonly #sharing: StoreSharing;
  /** By this clock the shard serves. */
  readonly #wall: WallClock;
  readonly #clocks: ClockWatch;
  #mayServe = false;
  #clockProblem: string | undefined;
  readonly #ownership: Ownership;
  readonly #readiness: Readiness;
  readonly #watch: WatchLoop;
  readonly #readers: Readers;
  readonly #readerChoice: ReaderChoice;
  readonly #peers: Peers;
  #session: MembershipLease;
  #state: 'new' | 'running' | 'stopping' | 'stopped' = 'new';
  #stopReporting: () => void = () => {};

  constructor(dependencies: ShardNodeDependencies, options: ShardNodeOptions) {
    const { store, clock, random, log, metrics } = dependencies;
    const { leaseMs } = options.meta;
    this.#dependencies = dependencies;
    this.#options = options;
    this.#ids = new IdFactory(clock, random);
    this.#promises = new QuietPromises(clock);
    this.#readiness = new Readiness(clock);
    this.#membership = new Membership({ store, clock, log }, { leaseMs });
    this.#health = this.#createHealthWatch();
    this.#observers = tenureObservers(metrics, log, clock, (part) => this.#health.wrote(part));
    this.#sharing = createSharing(
      {
        store,
        clock,
        membership: this.#membership,
        health: this.#health,
        readiness: this.#readiness,
        ownership: () => this.#ownership,
        session: () => this.#session,
        running: () => this.#state === 'running',
        leaseMs,
      },
      { exclusive: options.exclusive ?? false },
    );
    this.#wall = new WallClock(clock, options.clockSkewMsMax ?? CLOCK_SKEW_MS_MAX_DEFAULT);
    this.#clocks = this.#createClockWatch();
    this.#session = this.#newSession();
    this.#ownership = this.#createOwnership();
    this.#watch = this.#createWatchLoop();
    this.#readers = this.#createReaders();
    this.#readerChoice = this.#createReaderChoice();
    this.#peers = this.#createPeers();
  }

  /** The incarnation of the current session. */
  get incarnation(): string {
    return this.#session.incarnation;
  }

  /** 0: the shard may not answer. Infinite: it needs no lease. */
  get leaseLeftMs(): number {
    return this.#session.leaseLeftMs;
  }

  /** Whether the shard has served its whole share at least once. */
  get ready(): boolean {
    return this.#readiness.ready;
  }

  /** The failing part, because of which the slots go to other shards; undefined: the shard is healthy. */
  get unhealthyPart(): HealthWatch['unhealthyPart'] {
    return this.#health.unhealthyPart;
  }

  /** Why this process serves nothing, because of its wall clock; undefined: that is right. */
  get clockProblem(): string | undefined {
    return this.#clocks.problem;
  }

  // ---- life cycle ----

  /** Registers this incarnation as a member. Resolves when it has a lease, or `stop` was called. */
  async join(): Promise<void> {
    const { place } = this.#options;
    // A clock that is wrong is known before others expect this shard to serve.
    await this.#clocks.lookAtStore();
    const isThere = () => this.#state === 'new';
    const earlier = place === undefined ? [] : await findPredecessors(this.#dependencies, { place, isThere });
    const promisesMs = outlastMs(this.#readerLimits);
    await Promise.all([declarePredecessors(this.#dependencies, earlier, promisesMs), this.#session.join()]);
  }

  /**
   * Claims and opens the slots that this shard should own, and keeps managing them. Resolves when the shard serves its
   * share, or `stop` was called. With a store of its own it rejects if a slot cannot be opened.
   */
  async start(): Promise<void> {
    this.#state = 'running';
    this.#stopReporting = this.#dependencies.metrics.onRender(() => {
      const tenures = this.#ownership.tenures.values();
      const { metrics } = this.#dependencies;
      const [lookups, readIndexes] = [this.#lookups, this.#readIndexes];
      reportShard(metrics, { lookups, readIndexes, tenures, leaseLeftMs: this.leaseLeftMs });
      this.#readers.report();
      this.#sharing.report();
      reportClocks(metrics, this.#clocks.differencesMs, this.#ownership.tenures.values());
    });
    await this.#sharing.start();
    void this.#watch.run();
    this.#maintain();
    // `stop` may have been called meanwhile.
    if (this.#state !== 'running') return;
    this.#readerChoice.start();
    await this.#readiness.wait();
  }

  /**
   * Hands over every slot, applied and checkpointed, and ends this incarnation. Waits for the store for as long as it
   * takes.
   */
  async stop(): Promise<void> {
    if (this.#state === 'stopping' || this.#state === 'stopped') return;
    const { log } = this.#dependencies;
    const started = this.#state === 'running';
    this.#state = 'stopping';
    this.#stopReporting();
    this.#readerChoice.close();
    this.#readiness.release();
    const session = this.#session;
    if (started) await this.#sharing.drain(session);
    await this.#ownership.releaseAll(session);
    this.#state = 'stopped';
    this.#readers.close();
    this.#peers.close();
    try {
      await this.#leave(session);
      await this.#sharing.forget(session);
    } catch (error) {
      log.warn({ err: error }, 'failed to deregister this member; its peers notice when its lease expires');
    }
  }

  /** A member may have ended: its connection broke, which proves nothing. The shard looks at the members at once. */
  lookAtMembers(): void {
    if (!this.#sharing.alone) this.#watch.lookSoon();
  }

  get #readerLimits(): ReaderLimits {
    return { ...READER_LIMITS, ...this.#options.readerLimits };
  }

  #maintain(): void {
    const ports = {
      ...this.#dependencies,
      clock: this.#wall,
      segmentSize: this.#options.meta.segmentSize,
      logRetentionMs: this.#options.logRetentionMs ?? LOG_RETENTION_MS_DEFAULT,
      createRequestId: () => this.#ids.create('req'),
    };
    const roundMs = this.#options.maintenanceMs ?? MAINTENANCE_MS;
    const tenures = () => (this.#state === 'running' ? this.#ownership.tenures.values() : undefined);
    void keepCollecting(ports, roundMs, tenures);
    void keepMaintaining(ports, roundMs, tenures);
  }

  // ---- its parts ----

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

  #createClockWatch(): ClockWatch {
    const { store, clock, log } = this.#dependencies;
    const members = () => this.#membership.clocksOf(this.incarnation);
    return new ClockWatch({ clock, store, log, wall: this.#wall, members, alone: this.#sharing.alone });
  }

  /** What follows from the clocks: a shard whose own is wrong gives up its slots, and takes none until it is right. */
  async #lookAtClocks(): Promise<void> {
    await this.#clocks.look();
    const problem = this.clockProblem;
    if (problem !== this.#clockProblem) this.#options.onClock?.(problem);
    this.#clockProblem = problem;
    const mayServe = this.#wall.right;
    if (mayServe === this.#mayServe) return;
    this.#mayServe = mayServe;
    if (this.#sharing.alone) return;
    if (mayServe) this.#session.announce();
    else this.#giveUp(problem ?? 'its clock is wrong');
  }

  /** Its slots go to others at once, as those of a member that has ended. */
  #giveUp(reason: string): void {
    if (this.#state !== 'running') return;
    const { log } = this.#dependencies;
    const left = this.#session;
    this.#ownership.endAll(reason);
    this.#session = this.#newSession();
    void this.#leave(left)
      .catch((error: unknown) => log.warn({ err: error }, 'cannot deregister: others notice when the lease expires'))
      .then(() => this.#session.join());
  }

  /** Others take the slots of the session from then on, and wait for no lease of it. */
  async #leave(session: MembershipLease): Promise<void> {
    await this.#promises.over();
    await session.leave();
  }

  #updateReadiness(): void {
    if (this.#wall.right) this.#readiness.update(this.#ownership);
  }

  #mayAnswer(session: MembershipLease): boolean {
    return session.leaseValid && this.#wall.right;
  }

  #createOwnership(): Ownership {
    const { store, clock, log, metrics, budget } = this.#dependencies;
    const { meta, shardName } = this.#options;
    // Initialized to 0, so that an increase includes the first one.
    metrics.slotMoves.inc({ kind: 'failed' }, 0);
    return new Ownership(
      {
        store,
        clock,
        budget,
        promises: this.#promises,
        successors: this.#dependencies.owners,
        session: () => this.#session,
        fronts: () => this.#peers.fronts(),
        log,
        membership: this.#membership,
        createTenure: (row, session) => this.#createTenure(row, session),
        takes: () => this.#wall.right,
        onRoutesChanged: () => {
          this.#updateReadiness();
          this.#peers.routesChanged();
        },
        onMoved: (kind) => {
          metrics.slotMoves.inc({ kind });
          // Opening the slot appended the first entry of its epoch.
          if (kind === 'claimed') this.#health.wrote('append');
        },
      },
      { slots: meta.slots, shardName, alone: this.#sharing.alone },
    );
  }

  #createWatchLoop(): WatchLoop {
    const { clock, log } = this.#dependencies;
    return new WatchLoop({
      clock,
      log,
      membership: this.#membership,
      ownership: this.#ownership,
      sharing: this.#sharing,
      updateReadiness: () => this.#updateReadiness(),
      lookAtClocks: () => this.#lookAtClocks(),
      session: () => this.#session,
      stopping: () => this.#state === 'stopping',
      stopped: () => this.#state === 'stopped',
      onNeighboursChanged: () => this.#peers.routesChanged(),
    });
  }

  #createReaders(): Readers {
    const { meta, pageLimits } = this.#options;
    return new Readers({
      ...this.#dependencies,
      clock: this.#wall,
      pageLimits: { ...PAGE_LIMITS, ...pageLimits },
      readerLimits: this.#readerLimits,
      slots: meta.slots,
      // What it reads for others needs no lease of its own: that and its health only show whether it has the store.
      mayRead: () => this.#mayAnswer(this.#session) && this.#health.unhealthyPart === undefined,
      ownerOf: (slot) => this.#ownership.notServing(slot, this.#session).owner?.address,
    });
  }

  #createReaderChoice(): ReaderChoice {
    const { clock, budget } = this.#dependencies;
    const { meta, plans } = this.#options;
    return new ReaderChoice({
      readerLimits: this.#readerLimits,
      clock,
      plans,
      crowding: budget.turns.crowding,
      others: () => this.#membership.neighboursOf(this.incarnation).length,
      memoryOf: (tenantId) => {
        const tenure = this.#ownership.tenures.get(slotOfTenant(tenantId, meta.slots));
        return tenure?.serving === true ? tenure.tenants.get(tenantId) : undefined;
      },
    });
  }

  #createPeers(): Peers {
    const { store, clock, metrics } = this.#dependencies;
    const { meta, plans } = this.#options;
    return new Peers({
      store,
      clock: this.#wall,
      ids: this.#ids,
      plans,
      secrets: decodeCursorSecrets(meta.cursorSecrets),
      slots: meta.slots,
      segmentSize: meta.segmentSize,
      tenureOf: (slot) => this.#tenureOf(slot),
      tenures: () => this.#ownership.tenures,
      members: () => store.listMembers(storeDeadline(clock)),
      report: () => ({
        incarnation: this.incarnation,
        shardName: this.#options.shardName,
        leaseLeftMs: this.#sharing.alone ? undefined : this.leaseLeftMs,
        rows: this.#ownership.rows(),
      }),
      lookups: this.#lookups,
      readIndexes: this.#readIndexes,
      readsAll: this.#dependencies.commitCounts !== undefined,
      readers: this.#readers,
      handovers: {
        expect: async (slot) => {
          await this.#ownership.expect(slot);
          // It opens nothing before that, so that the slot had better stay where it is.
          if (!this.#wall.right) return { fronts: [] };
          return { fronts: this.#peers.names().slice(0, FRONTS_TOLD_MAX) };
        },
        take: (slot) => this.#ownership.take(slot),
      },
      openFirst: (slots) => this.#ownership.openFirst(slots),
      readersOf: (memory) => this.#readerChoice.of(memory),
      busiest: () => busiestTenant(this.#dependencies.budget.turns, clock),
      deadlineMs: meta.deadlineMs,
      onRefused: (code) => metrics.limitRefusals.inc({ type: code }),
    });
  }

  #newSession(): MembershipLease {
    const { store, clock, log, metrics } = this.#dependencies;
    const { shardName, address, place, meta } = this.#options;
    const incarnation = this.#ids.create('inc');
    return new MembershipLease(
      {
        store,
        clock,
        log,
        lease: this.#sharing.createLease(),
        health: this.#health,
        takes: () => this.#wall.agrees,
        observe: ({ outcome, seconds }) => metrics.heartbeatSeconds.observe({ outcome }, seconds),
        onLapsed: () => metrics.leasesLapsed.inc(),
        onEnded: (reason) => this.#joinAgain(reason),
      },
      { clusterId: meta.clusterId, incarnation, shardName, address, place },
    );
  }

  /** Another member has declared this one dead, so other shards may already serve its slots. */
  #joinAgain(reason: string): void {
    const { log, metrics } = this.#dependencies;
    metrics.sessionsLost.inc();
    log.error({ incarnation: this.incarnation, reason }, 'the membership session ended');
    this.#ownership.endAll(reason);
    if (this.#state === 'stopping' || this.#state === 'stopped') return;
    this.#session = this.#newSession();
    log.info({ incarnation: this.incarnation }, 'rejoining as a new incarnation');
    // It rejects if the store is that of another cluster by now, which ends the process.
    void this.#session.join();
  }

  #createTenure(row: SlotRow, session: MembershipLease): Tenure {
    const { store, budget, commitCounts } = this.#dependencies;
    const { segmentSize, deadlineMs } = this.#options.meta;
    const tenure: Tenure = new Tenure(row, session.incarnation, {
      store,
      clock: this.#wall,
      ids: this.#ids,
      budget,
      commitCounts,
      pageLimits: { ...PAGE_LIMITS, ...this.#options.pageLimits },
      readerLimits: this.#readerLimits,
      segmentSize,
      operationsKeptMs: 2 * deadlineMs,
      leaseValid: () => this.#mayAnswer(session),
      leaseLeftMs: () => session.leaseLeftMs,
      promises: this.#promises.of(row.slot),
      hotPagesWriteMs: this.#options.hotPagesWriteMs,
      ...this.#observers,
      onLost: (reason) => this.#loseTenure(tenure, reason),
    });
    return tenure;
  }

  #loseTenure(tenure: Tenure, reason: string): void {
    tenure.end(reason);
    this.#dependencies.log.error({ slot: tenure.slot, epoch: tenure.epoch, reason }, 'the shard lost the slot');
    this.#ownership.lose(tenure);
  }

  // ---- the port ----

  welcome(): ShardWelcome {
    const { meta, shardName } = this.#options;
    const { clusterId, slots, deadlineMs, leaseMs } = meta;
    return { incarnation: this.incarnation, shardName, clusterId, slots, deadlineMs, leaseMs };
  }

  monotonicMs(): number {
    return this.#dependencies.clock.monotonicMs();
  }

  readonly connect = (name?: string) => this.#peers.connect(name);
  readonly connectConsole = () => this.#peers.connectConsole();
  readonly connectShard = () => this.#peers.connectShard();

  routes(): Routes {
    return { epochs: this.#ownership.routes(), members: this.#watch.neighbours };
  }

  watchRoutes(onChange: () => void): () => void {
    return this.#peers.watchRoutes(onChange);
  }

  #tenureOf(slot: number): Tenure {
    const tenure = this.#ownership.tenures.get(slot);
    if (tenure !== undefined) {
      tenure.assertServing();
      return tenure;
    }
    throw this.#ownership.notServing(slot, this.#session);
  }
}

export const createShardNode = (dependencies: ShardNodeDependencies, options: ShardNodeOptions): ShardNode =>
  new ShardNode(dependencies, options);
