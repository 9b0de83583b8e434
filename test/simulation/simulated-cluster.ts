// A whole cluster below HTTP in one thread: the real shard and front code over a simulated network, one database and
// virtual time. It starts, stops, kills and pauses its processes; what happens when, the nemesis decides.

import type { Clock } from '../../src/core/async/clock.ts';
import { FairTurns, type Turns } from '../../src/core/async/turns.ts';
import { IdFactory } from '../../src/core/ids.ts';
import { BUILT_IN_PLANS, type Plans, resolvePlan } from '../../src/core/plans.ts';
import type { Discovery } from '../../src/discovery/discovery.ts';
import { type ComposedFront, createFront } from '../../src/front/create-front.ts';
import { MessageSpacing } from '../../src/rpc/links/gathering.ts';
import { OwnerLinks } from '../../src/rpc/links/owner-links.ts';
import { ForeignPeers } from '../../src/rpc/serving/foreign-peers.ts';
import { PeerStream } from '../../src/rpc/serving/peer-stream.ts';
import { createStreamHost } from '../../src/rpc/serving/stream-host.ts';
import { ClusterIdentity } from '../../src/rpc/transport/cluster-identity.ts';
import { EVERY_PROOF } from '../../src/rpc/transport/peer-certificate.ts';
import { type CommitCounts, commitCountsMemory, createCommitCounts } from '../../src/shard/log/commit-counts.ts';
import { outlastMs } from '../../src/shard/log/quiet-promises.ts';
import { READER_LIMITS } from '../../src/shard/memory/limits.ts';
import { MemoryBudget } from '../../src/shard/memory/memory-budget.ts';
import { LEASE_MS } from '../../src/shard/ownership/membership-lease.ts';
import { declareVacant } from '../../src/shard/ownership/predecessors.ts';
import { createReaderShard } from '../../src/shard/reader-shard.ts';
import { createShardNode, type ShardNode } from '../../src/shard/shard-node.ts';
import type { Meta } from '../../src/store/store.ts';
import type { Log } from '../../src/telemetry/log.ts';
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.ts';
import { MemoryStore } from '../kit/store/memory-store.ts';
import { SimulatedNetwork } from './network.ts';
import { createProcessLog } from './process-log.ts';
import { type Profile, READERS_DRAWN_MAX } from './profile.ts';
import type { Scheduler } from './scheduler.ts';
import type { SeededRandom } from './seeded-random.ts';
import { type ProcessClocks, SimulatedProcess, WALL_START_MS } from './simulated-process.ts';
import { StoreRules } from './store-rules.ts';
import { createStoreView, NO_STORE_FAULTS, type StoreWorld } from './store-view.ts';
import type { Trace } from './trace.ts';

export interface RunningShard {
  readonly shardName: string;
  readonly address: string;
  readonly process: SimulatedProcess;
  readonly node: ShardNode;
  readonly streams: Set<PeerStream>;
  /** Of everything on its event loop. */
  readonly turns: Turns;
  stopping: boolean;
}

export interface RunningFront {
  readonly name: string;
  readonly process: SimulatedProcess;
  readonly front: ComposedFront;
}

/** One for all runs of this thread: nobody reads it, and making one costs more than a run. */
const shared = createMetrics();
const metrics: Metrics = { ...shared, onRender: () => () => {} };

/** The clock stands still within a step, so that a turn never runs out of time by itself. */
class SaturatedTurns extends FairTurns {
  readonly #random: SeededRandom;
  readonly #chance: number;

  /** `chance`: that a turn has no time left when it is asked. */
  constructor(clock: Clock, random: SeededRandom, chance: number) {
    super(clock);
    this.#random = random;
    this.#chance = chance;
  }

  override hasTime(nowMs: number): boolean {
    const hasTime = super.hasTime(nowMs);
    return hasTime && !this.#random.chance(this.#chance);
  }
}

/** The plan of a tenant with so many readers. */
export const planWith = (readers: number | 'auto'): string => `readers-${readers}`;

const PLANS: Plans = new Map(
  [...Array(READERS_DRAWN_MAX + 1).keys(), 'auto' as const].map((readers) => {
    const name = planWith(readers);
    return [name, { ...resolvePlan(BUILT_IN_PLANS, 'unlimited'), name, readers, readersMax: READERS_DRAWN_MAX }];
  }),
);

const HOT_PAGES_WRITE_MS = 1000;
const PORT = 7000;
/** A stopped shard keeps its streams for so long to answer what is in flight. */
const FINISH_MS = 500;
/** Epochs count changes of owners, of which a cluster for trials has many. */
const FOREIGN_EPOCHS = 1000;

/** Of a store whose calls are given no time. */
const STILL: Clock = {
  monotonicMs: () => 0,
  wallMs: () => 0,
  idleMs: () => 0,
  setTimer: () => ({ cancel() {} }),
  setImmediate: () => {},
};

const createWorld = (scheduler: Scheduler, random: SeededRandom, store: MemoryStore): StoreWorld => ({
  scheduler,
  random,
  store,
  faults: NO_STORE_FAULTS,
  down: false,
  cutOff: new Set(),
  withoutHeartbeats: new Set(),
  pending: 0,
  scans: new Map(),
  displaced: 0,
  wallSkewMs: 0,
});

export class SimulatedCluster {
  readonly scheduler: Scheduler;
  readonly network: SimulatedNetwork;
  readonly world: StoreWorld;
  /** How far the wall clock of the shard that starts next is off. */
  startsOffMs = 0;
  #startedOff: { readonly process: SimulatedProcess; readonly byMs: number } | undefined;
  readonly shards = new Map<string, RunningShard>();
  readonly fronts = new Map<string, RunningFront>();
  readonly meta: Meta;
  /** After which a front gives a request up. */
  readonly deadlineMs: number;
  readonly #profile: Profile;
  readonly #random: SeededRandom;
  readonly #trace: Trace;
  readonly #rules: StoreRules;
  readonly #clusterIds: IdFactory;
  /** The shard of a restored copy that is at an address of discovery now. */
  #foreign: { readonly process: SimulatedProcess; readonly address: string } | undefined;
  readonly #runs = new Map<string, number>();
  /** In the memory that the only owner and the readers of fronts share; undefined: they share none. */
  readonly #commitCounts: CommitCounts | undefined;
  /** By name: where a shard was started last, and who is there. */
  readonly #places = new Map<string, { readonly place: string; readonly process: SimulatedProcess }>();
  /** By name: what ends the hold of a watch on the place of a shard; shards that start wait for it. */
  readonly #holds = new Map<string, Promise<void>>();
  readonly #watchers = new Set<(addresses: readonly string[]) => void>();
  /** Of every shard that is to be there, up or not: what DNS knows. */
  readonly #addresses = new Set<string>();

  constructor(scheduler: Scheduler, random: SeededRandom, profile: Profile, trace: Trace) {
    this.scheduler = scheduler;
    this.#random = random;
    this.#profile = profile;
    this.#trace = trace;
    this.deadlineMs = profile.deadlineMs;
    this.network = new SimulatedNetwork(scheduler, random.fork('network'), {
      slowChance: profile.slowNetwork,
      keepaliveMs: profile.keepaliveMs,
    });
    this.#clusterIds = new IdFactory(STILL, random.fork('clusters'));
    this.meta = {
      clusterId: this.#clusterIds.create('clu'),
      slots: profile.slots,
      segmentSize: profile.segmentSize,
      leaseMs: LEASE_MS,
      deadlineMs: profile.clusterDeadlineMs,
      logFormat: 1,
      cursorSecrets: [Buffer.from(random.fork('secret').bytes(32)).toString('base64url')],
    };
    const store = new MemoryStore({ clock: STILL, shadows: true, purgeRowsMax: profile.purgeRowsMax });
    this.world = createWorld(scheduler, random.fork('store'), store);
    store.nodeClock = () => ({
      node: 'store',
      wallMs: Math.floor(WALL_START_MS + scheduler.nowMs + this.world.wallSkewMs),
    });
    this.#commitCounts = profile.threads ? createCommitCounts(commitCountsMemory(profile.slots)) : undefined;
    const { segmentSize, deadlineMs } = this.meta;
    const kept = { segmentSize, operationsKeptMs: 2 * deadlineMs, clockSkewMsMax: profile.clockSkewMsMax };
    this.#rules = new StoreRules(this.world.store, scheduler, kept, (failure) => trace.fail(failure));
  }

  async initialize(): Promise<void> {
    await this.world.store.initializeMeta(this.meta, Number.POSITIVE_INFINITY);
  }

  #createProcess(kind: string, clocks: ProcessClocks = {}): SimulatedProcess {
    const run = (this.#runs.get(kind) ?? 0) + 1;
    this.#runs.set(kind, run);
    const name = `${kind}#${run}`;
    return new SimulatedProcess(name, this.scheduler, this.#random.fork(name), clocks);
  }

  #createLog({ name }: SimulatedProcess): Log {
    return createProcessLog(name, this.#trace, this.#profile.focus);
  }

  // ---- shards ----

  startShard(shardName: string): RunningShard {
    const process = this.#createProcess(shardName, {
      slowClock: shardName === this.#profile.slowShard,
      wallSkewMs: this.#profile.wallSkewMs,
      ratesApart: this.#profile.ratesApart,
    });
    if (this.startsOffMs !== 0) {
      process.jumpWall(this.startsOffMs);
      this.#startedOff = { process, byMs: this.startsOffMs };
      this.startsOffMs = 0;
    }
    const address = `${shardName}:${PORT}`;
    const log = this.#createLog(process);
    const { clock, random } = process;
    const turns = this.#createTurns(process);
    const node = createShardNode(
      {
        store: createStoreView(this.world, this.#rules, process),
        clock,
        random,
        log,
        metrics,
        budget: new MemoryBudget(this.#profile.memoryBytesMax, turns),
        owners: this.#createOwnerLinks(process, turns, log, this.meta),
        commitCounts: this.#commitCounts,
      },
      {
        shardName,
        address,
        place: this.#takePlace(shardName, process),
        meta: this.meta,
        plans: PLANS,
        pageLimits: this.#profile.pageLimits,
        readerLimits: this.#profile.readerLimits,
        logRetentionMs: this.#profile.logRetentionMs,
        clockSkewMsMax: this.#profile.clockSkewMsMax,
        maintenanceMs: this.#profile.maintenanceMs,
        // Often: an owner that dies after some seconds leaves a list.
        hotPagesWriteMs: HOT_PAGES_WRITE_MS,
      },
    );
    const streams = new Set<PeerStream>();
    let accepted = 0;
    const foreignPeers = new ForeignPeers({ log, metrics });
    const shard: RunningShard = { shardName, address, process, node, streams, turns, stopping: false };
    this.network.listen(process, address, (stream) => {
      if (shard.stopping && streams.size === 0) return false;
      accepted += 1;
      const proof = EVERY_PROOF;
      const options = { shard: node, clock, turns, log, metrics, foreignPeers, version: 'simulated', proof };
      const peer = new PeerStream(stream, { ...options, turnKey: `peer ${accepted}` }, () => streams.delete(peer));
      streams.add(peer);
      return true;
    });
    this.shards.set(shardName, shard);
    this.#addresses.add(address);
    this.#announce();
    this.#trace.add(process.name, 'starts');
    const join = (): void => {
      process.deliver(() => {
        void node.join().then(() => node.start());
      });
    };
    const hold = this.#holds.get(shardName);
    if (hold === undefined) join();
    else void hold.then(join);
    return shard;
  }

  /** Undefined: there is none now. */
  get foreign(): object | undefined {
    return this.#foreign;
  }

  /**
   * A shard of a restored copy of the store as it is now, whose slots have changed their owners often since: at an
   * address of its own in discovery, or at that of a shard that has ended. Returns what ends it.
   */
  startForeignShard(inPlaceOf: string | undefined): () => void {
    const process = this.#createProcess('foreign');
    const address = `${inPlaceOf ?? 'foreign'}:${PORT}`;
    const clusterId = this.#clusterIds.create('clu');
    const meta = { ...this.meta, clusterId };
    const store = new MemoryStore({ clock: STILL, shadows: true, purgeRowsMax: this.#profile.purgeRowsMax });
    store.restoreFrom(this.world.store, { clusterId, epochs: FOREIGN_EPOCHS });
    const { scheduler } = this;
    const { segmentSize, deadlineMs } = meta;
    const kept = { segmentSize, operationsKeptMs: 2 * deadlineMs, clockSkewMsMax: Number.POSITIVE_INFINITY };
    const rules = new StoreRules(store, scheduler, kept, (failure) => this.#trace.fail(failure));
    const world = createWorld(scheduler, process.random.fork('store'), store);
    const log = this.#createLog(process);
    const { clock, random } = process;
    const turns = this.#createTurns(process);
    const node = createShardNode(
      {
        store: createStoreView(world, rules, process),
        clock,
        random,
        log,
        metrics,
        budget: new MemoryBudget(this.#profile.memoryBytesMax, turns),
        owners: this.#createOwnerLinks(process, turns, log, meta),
      },
      { shardName: process.name, address, meta, plans: PLANS, logRetentionMs: this.#profile.logRetentionMs },
    );
    this.network.listen(process, address, createStreamHost({ shard: () => node, clock, turns, log, metrics }).accept);
    this.#trace.add(process.name, `starts at ${address}`);
    process.deliver(() => {
      void node.join().then(() => node.start());
    });
    const isKnown = this.#addresses.has(address);
    this.#foreign = { process, address };
    if (!isKnown) this.#addresses.add(address);
    this.#announce();
    return () => {
      this.#trace.add(process.name, 'is killed');
      process.kill();
      this.network.lose(process, false);
      this.#foreign = undefined;
      if (!isKnown) this.#addresses.delete(address);
      this.#announce();
    };
  }

  /** The clock of the shard that started with a wrong one is right again; if none has, the next one's is. */
  correctStarted(): void {
    this.#startedOff?.process.jumpWall(-this.#startedOff.byMs);
    this.#startedOff = undefined;
    this.startsOffMs = 0;
  }

  /** Of everything on the event loop of a process. */
  #createTurns({ clock, random }: SimulatedProcess): Turns {
    const { saturated } = this.#profile;
    return saturated === 0 ? new FairTurns(clock) : new SaturatedTurns(clock, random.fork('turns'), saturated);
  }

  /** How a reader in the process asks owners. */
  #createOwnerLinks(process: SimulatedProcess, turns: Turns, log: Log, { clusterId, slots }: Meta): OwnerLinks {
    const { clock, random } = process;
    const cluster = new ClusterIdentity({ clock, log, metrics }, clusterId);
    return new OwnerLinks(
      { clock, turns, random, log, metrics, openStream: this.network.openStreamOf(process), cluster },
      { name: process.name, version: 'simulated', slots },
    );
  }

  /**
   * The place of the last run where that is free for certain: another one while it runs, or once its machine was lost.
   */
  #takePlace(shardName: string, process: SimulatedProcess): string {
    const last = this.#places.get(shardName);
    const place = last === undefined || last.process.alive ? process.name : last.place;
    this.#places.set(shardName, { place, process });
    return place;
  }

  /**
   * The connection of the watch of a shard's place breaks. As the kernel does, this lets it have the place only if the
   * last process there has ended and no other one has come, and makes one that comes wait. It gives up soon.
   */
  doubtPlace(shardName: string): void {
    const last = this.#places.get(shardName);
    if (last === undefined) return;
    const process = this.#createProcess(`watch-${shardName}`);
    const { clock } = process;
    const log = this.#createLog(process);
    const store = createStoreView(this.world, this.#rules, process);
    const isVacant = !last.process.alive && !this.#holds.has(shardName);
    const { promise: released, resolve } = Promise.withResolvers<void>();
    let isHeld = isVacant;
    const release = (): void => {
      if (isVacant && isHeld) this.#holds.delete(shardName);
      isHeld = false;
      resolve();
    };
    if (isVacant) this.#holds.set(shardName, released);
    this.scheduler.after(process.random.pick([20, 200, 1500]), release);
    this.#trace.add(process.name, isVacant ? 'has the place' : 'finds the place taken');
    const promisesMs = outlastMs({ ...READER_LIMITS, ...this.#profile.readerLimits });
    const held = { isHeld: () => isHeld, release };
    process.deliver(() => void declareVacant({ store, clock, log }, { place: last.place, held, promisesMs }));
  }

  /** As SIGKILL; `silently`: as the loss of its machine. */
  killShard(shard: RunningShard, silently: boolean): void {
    this.#trace.add(shard.process.name, silently ? 'is lost with its machine' : 'is killed');
    shard.process.kill();
    if (silently && this.#places.get(shard.shardName)?.process === shard.process) this.#places.delete(shard.shardName);
    this.network.lose(shard.process, silently);
    if (this.shards.get(shard.shardName) === shard) this.shards.delete(shard.shardName);
  }

  /** As SIGTERM: hands over, finishes its streams and exits. */
  stopShard(shard: RunningShard): Promise<void> {
    shard.stopping = true;
    this.#trace.add(shard.process.name, 'is told to stop');
    return new Promise((resolve) => {
      shard.process.onKilled(resolve);
      shard.process.deliver(() => {
        void shard.node.stop().then(() => {
          for (const stream of shard.streams) stream.finish();
          shard.process.clock.setTimer(() => {
            this.#trace.add(shard.process.name, 'exits');
            this.killShard(shard, false);
          }, FINISH_MS);
        });
      });
    });
  }

  /** The shard that owns the slot as far as the store knows; undefined: it is gone or going. */
  ownerOf(slot: number): RunningShard | undefined {
    const owner = this.world.store.slotRows().find((row) => row.slot === slot)?.owner;
    return [...this.shards.values()].find(({ node, stopping }) => !stopping && node.incarnation === owner);
  }

  /** The shard is not to come back: its address goes from discovery. */
  retire(shardName: string): void {
    this.#addresses.delete(`${shardName}:${PORT}`);
    this.#announce();
  }

  #announce(): void {
    for (const onChange of this.#watchers) onChange([...this.#addresses].sort());
  }

  // ---- fronts ----

  startFront(kind: string, peer: 'front' | 'console' = 'front'): RunningFront {
    const process = this.#createProcess(kind, { ratesApart: this.#profile.ratesApart });
    const log = this.#createLog(process);
    const { clock, random } = process;
    const reader = peer === 'front' ? this.#startReader(process, log) : [];
    const discovery: Discovery = {
      watch: (onChange) => {
        const later = (addresses: readonly string[]) =>
          this.scheduler.after(this.#random.between(1, 500), () =>
            process.deliver(() => onChange([...reader, ...addresses])),
          );
        this.#watchers.add(later);
        process.onKilled(() => this.#watchers.delete(later));
        onChange([...reader, ...[...this.#addresses].sort()]);
        return () => this.#watchers.delete(later);
      },
    };
    const learned = random.fork('cluster id');
    const front = createFront(
      {
        ...{ discovery, clock, random, log, metrics },
        openStream: this.network.openStreamOf(process),
        spacing: new MessageSpacing(clock),
      },
      {
        name: process.name,
        peer,
        // One that starts beside a foreign shard, and reaches no shard of its own for long, would learn its id.
        clusterId: this.#foreign !== undefined || learned.chance(0.5) ? this.meta.clusterId : undefined,
        localReader: reader.length === 0 ? undefined : process.name,
        positionLimits: this.#profile.positionLimits,
      },
    );
    const running = { name: kind, process, front };
    this.fronts.set(kind, running);
    this.#trace.add(process.name, 'starts');
    return running;
  }

  /** A shard in a front's process reads for every tenant, as in threads beside the owner. Returns its addresses. */
  #startReader(process: SimulatedProcess, log: Log): readonly string[] {
    const [ownerAddress] = this.#addresses;
    if (this.#commitCounts === undefined || ownerAddress === undefined) return [];
    const { clock, random, name } = process;
    const turns = this.#createTurns(process);
    const reader = createReaderShard(
      {
        store: createStoreView(this.world, this.#rules, process),
        clock,
        random,
        metrics,
        budget: new MemoryBudget(this.#profile.memoryBytesMax, turns),
        owners: this.#createOwnerLinks(process, turns, log, this.meta),
        commitCounts: this.#commitCounts,
      },
      { shardName: name, meta: this.meta, plans: PLANS, ownerAddress, readerLimits: this.#profile.readerLimits },
    );
    const address = `${name}:${PORT}`;
    this.network.listen(process, address, createStreamHost({ shard: () => reader, clock, turns, log, metrics }).accept);
    return [address];
  }

  killFront(front: RunningFront): void {
    this.#trace.add(front.process.name, 'is killed');
    front.process.kill();
    this.network.lose(front.process, false);
    if (this.fronts.get(front.name) === front) this.fronts.delete(front.name);
  }

  processes(): SimulatedProcess[] {
    const foreign = this.#foreign === undefined ? [] : [this.#foreign];
    return [...this.shards.values(), ...this.fronts.values(), ...foreign].map(({ process }) => process);
  }
}
