// The nemesis: what goes wrong, drawn from the seed, one fault every few seconds, several at a time. Every fault ends
// by itself or when `heal` is called.

import { chooseReader, seedOfReader } from '../../src/front/requests/reader-of-subject.ts';
import { LEASE_MS } from '../../src/shard/ownership/membership-lease.ts';
import type { Nemesis, Profile } from './profile.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { RunningFront, RunningShard, SimulatedCluster } from './simulated-cluster.ts';
import type { Trace } from './trace.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WALL_JUMPS_MS = [HOUR_MS, -HOUR_MS, 5000, -5000];
const WALL_STEPS_MS = [300, 700, 1500, -400, -1000];
const FAR_WALL_JUMPS_MS = [3 * HOUR_MS, 26 * HOUR_MS, 40 * DAY_MS, 400 * DAY_MS].flatMap((byMs) => [byMs, -byMs]);
/**
 * A wall clock that has run 200 ms ahead of the monotonic one gives a suspension away; a shorter one lasts less than
 * what is waited for beyond a lease. The longest lasts until the log is trimmed that was written at its beginning.
 */
const SUSPENSIONS_MS = [300, 1300, 3500, 6000, 9000, 16_000];
/** Leases outlive event loops and stores that stand still for so long, one at a time. */
const STALL_MS_MAX = 1000;
const BETWEEN_STALLS_MS = 500;
/** Of a front. Half of them are longer than owners know operations under the focus on suspended machines. */
const FRONT_SUSPENSIONS_MS = [500, 3500, 6500, 9000];
/** Of a front whose connections stay: shorter and longer than a promise of an owner. */
const DOZES_MS = [20, 100, 400, 1500];
/** After SIGTERM, until the process is killed. */
const GRACE_MS = 30_000;

/** What was written before is shown by then, and a promise is given. */
const UNWRITTEN_MS = 500;

/** A front that hears of no shard but a reader of its tenant, and perhaps the owner. */
interface Apart {
  readonly front: RunningFront;
  readonly owner: RunningShard;
  readonly reader: RunningShard | undefined;
}

export class NemesisRun {
  readonly #cluster: SimulatedCluster;
  readonly #profile: Profile;
  readonly #random: SeededRandom;
  readonly #trace: Trace;
  readonly #heals = new Set<() => void>();
  #stalledUntilMs = Number.NEGATIVE_INFINITY;
  /** One clock is wrong now. */
  #clockIsWrong = false;
  /** Names of shards that are to be there. */
  readonly #wanted: Set<string>;
  /** Slots of which a record was lost: they may be refused from then on. */
  readonly lostSlots = new Set<number>();
  /** The owner of the first slot is about to leave, or has left a moment ago. */
  #isLeaving = false;

  constructor(cluster: SimulatedCluster, profile: Profile, random: SeededRandom, trace: Trace) {
    this.#cluster = cluster;
    this.#profile = profile;
    this.#random = random;
    this.#trace = trace;
    this.#wanted = new Set(cluster.shards.keys());
  }

  async run(endMs: number): Promise<void> {
    const { scheduler } = this.#cluster;
    while (true) {
      await scheduler.sleep(this.#random.between(0.2, 1.8) * this.#profile.nemesisMs);
      if (scheduler.nowMs >= endMs) return;
      this.#strike(this.#random.weighted(this.#profile.nemeses as Record<Nemesis, number>));
    }
  }

  /** Everything that is broken is whole again, and every shard and front that is wanted is up. */
  heal(): void {
    for (const heal of [...this.#heals]) heal();
    for (const process of this.#cluster.processes()) process.resume();
    this.startMissing();
  }

  startMissing(): void {
    for (const name of this.#wanted) if (!this.#cluster.shards.has(name)) this.#cluster.startShard(name);
  }

  #strike(nemesis: Nemesis): void {
    const shard = this.#pickShard();
    const front = this.#pickFront();
    switch (nemesis) {
      case 'kill-shard':
        if (shard !== undefined) this.kill(shard);
        return;
      case 'stop-shard':
        if (shard !== undefined) this.#stopShard(shard, true);
        return;
      case 'pause-shard':
        if (shard !== undefined)
          this.#pause(shard, this.#random.pick([500, 2500, 4500, 9000]) * this.#random.between(0.7, 1.3));
        return;
      case 'stall-shard':
        if (shard !== undefined) this.#stallOnce((lengthMs) => this.#pause(shard, lengthMs));
        return;
      case 'stall-store':
        this.#stallOnce((lengthMs) => this.#storeDown(lengthMs));
        return;
      case 'stall-store-link':
        if (shard !== undefined) this.#stallOnce((lengthMs) => this.#cutStore(shard, lengthMs));
        return;
      case 'pause-front':
        if (front !== undefined) this.#pause(front, this.#random.pick([300, 4000]) * this.#random.between(0.7, 1.3));
        return;
      case 'restart-front':
        if (front !== undefined) this.#restartFront(front);
        return;
      case 'add-shard':
        this.#addShard();
        return;
      case 'remove-shard':
        if (shard !== undefined && this.#wanted.size > 1) this.#stopShard(shard, false);
        return;
      case 'cut-network':
        if (shard !== undefined && front !== undefined) this.#cutNetwork(front, shard);
        return;
      case 'reset-network':
        if (shard !== undefined && front !== undefined) this.#cluster.network.reset(front.process, shard.process);
        return;
      case 'cut-store':
        if (shard !== undefined) this.#cutStore(shard);
        return;
      case 'store-down':
        this.#storeDown(this.#random.pick([500, 2500, 8000, 20_000]));
        return;
      case 'jump-wall':
        if (shard !== undefined) this.#jumpWall(this.#random.pick([shard, front ?? shard]), WALL_JUMPS_MS);
        return;
      case 'jump-wall-far':
        if (shard !== undefined) this.#jumpWall(shard, FAR_WALL_JUMPS_MS);
        return;
      case 'wrong-clock':
        if (shard !== undefined && !this.#clockIsWrong) this.#makeClockWrong(shard);
        return;
      case 'mute-shard':
        if (shard !== undefined) this.#muteShard(shard);
        return;
      case 'suspend-shard':
        if (shard !== undefined) this.#suspend(shard);
        return;
      case 'suspend-front':
        if (front !== undefined) this.#suspendFront(front);
        return;
      case 'leave-apart':
        this.#leaveApart();
        return;
      case 'leave-promised':
        this.#leavePromised();
        return;
      case 'step-wall': {
        const owner = this.#cluster.ownerOf(0);
        if (owner !== undefined) this.#jumpWall(owner, WALL_STEPS_MS);
        return;
      }
      case 'doze-front':
        if (front !== undefined) this.#suspend(front, DOZES_MS);
        return;
      case 'lose-record':
        this.#loseRecord();
        return;
      case 'isolate-shard':
        if (shard !== undefined && front !== undefined) this.#isolateShard(front, shard);
        return;
      case 'restart-beside':
        if (shard !== undefined && front !== undefined) this.#restartBeside(front, shard);
        return;
      case 'doubt-place':
        if (shard !== undefined && front !== undefined) this.#doubtPlace(front, shard);
        return;
      case 'isolate-front':
        if (shard !== undefined && front !== undefined)
          this.#isolateFront(front, shard, this.#random.between(1000, 5000));
        return;
      case 'cut-heartbeats':
        if (shard !== undefined) this.#cutHeartbeats(shard);
        return;
      case 'stall-connection':
        if (shard !== undefined && front !== undefined) this.#stall(front, shard, this.#random.between(26_000, 34_000));
        return;
      case 'foreign-shard':
        this.#addForeignShard(shard);
        return;
      case 'delay-requests':
        if (shard !== undefined && front !== undefined) this.#stall(front, shard, this.#random.between(200, 1300));
        return;
    }
  }

  #pickShard(): RunningShard | undefined {
    const slow = this.#cluster.shards.get(this.#profile.slowShard ?? '');
    if (slow !== undefined) return slow;
    const spared = this.#profile.ownerSpared ? this.#cluster.ownerOf(0) : undefined;
    const running = [...this.#cluster.shards.values()].filter((each) => !each.stopping && each !== spared);
    return running.length === 0 ? undefined : this.#random.pick(running);
  }

  #pickFront(): RunningFront | undefined {
    const fronts = [...this.#cluster.fronts.values()].filter(({ name }) => name !== 'console');
    return fronts.length === 0 ? undefined : this.#random.pick(fronts);
  }

  /** Ends a fault later, or with all the others. */
  #healLater(delayMs: number, heal: () => void): void {
    const once = (): void => {
      if (this.#heals.delete(once)) heal();
    };
    this.#heals.add(once);
    this.#cluster.scheduler.after(delayMs, once);
  }

  #startLater(name: string, delayMs: number): void {
    this.#cluster.scheduler.after(delayMs, () => {
      if (this.#wanted.has(name) && !this.#cluster.shards.has(name)) this.#cluster.startShard(name);
    });
  }

  kill(shard: RunningShard): void {
    this.#cluster.killShard(shard, this.#random.chance(0.2));
    this.#startLater(shard.shardName, this.#random.pick([50, 1000, 7000]) * this.#random.between(0.5, 1.5));
  }

  #stopShard(shard: RunningShard, returns: boolean): void {
    const { shardName, process } = shard;
    if (!returns) this.#wanted.delete(shardName);
    void this.#cluster.stopShard(shard).then(() => {
      if (returns) this.#startLater(shardName, this.#random.between(50, 3000));
      else this.#cluster.retire(shardName);
    });
    this.#cluster.scheduler.after(GRACE_MS, () => {
      if (process.alive) this.#cluster.killShard(shard, false);
    });
  }

  /** Only where the one before it is over. */
  #stallOnce(stall: (lengthMs: number) => void): void {
    const { scheduler } = this.#cluster;
    if (scheduler.nowMs < this.#stalledUntilMs + BETWEEN_STALLS_MS) return;
    const lengthMs = this.#random.between(0, STALL_MS_MAX);
    this.#stalledUntilMs = scheduler.nowMs + lengthMs;
    stall(lengthMs);
  }

  #pause({ process }: { readonly process: RunningShard['process'] }, lengthMs: number): void {
    this.#trace.add(process.name, 'pauses');
    process.pause();
    this.#healLater(lengthMs, () => {
      if (process.alive) this.#trace.add(process.name, 'resumes');
      process.resume();
    });
  }

  #suspend(
    { process }: { readonly process: RunningShard['process'] },
    lengthsMs = SUSPENSIONS_MS,
    atWaking = (): void => {},
  ): void {
    this.#trace.add(process.name, 'is suspended with its machine');
    process.suspend();
    this.#healLater(this.#random.pick(lengthsMs) * this.#random.between(1, 1.3), () => {
      atWaking();
      if (process.alive) this.#trace.add(process.name, 'wakes');
      process.resume();
    });
  }

  /**
   * A machine's network goes first: the responses to what is in flight are lost, and when it wakes no connection
   * stands.
   */
  #suspendFront(front: RunningFront): void {
    const { network, shards, scheduler } = this.#cluster;
    const { process } = front;
    if (process.paused) return;
    const heals = [...shards.values()].map((shard) => network.cut(shard.process, process));
    scheduler.after(this.#random.between(20, 400), () => {
      this.#suspend(front, FRONT_SUSPENSIONS_MS, () => {
        for (const shard of shards.values()) network.reset(process, shard.process);
        for (const heal of heals) heal();
      });
    });
  }

  /**
   * What it answers does not arrive any more, and a little later it dies: what it has done is asked for again
   * elsewhere.
   */
  #muteShard(shard: RunningShard): void {
    const { network, fronts } = this.#cluster;
    this.#trace.add(shard.process.name, 'is not heard any more');
    const heals = [...fronts.values()].map(({ process }) => network.cut(shard.process, process));
    this.#healLater(this.#random.pick([300, 900, 1600]) * this.#random.between(0.5, 1.2), () => {
      if (shard.process.alive) this.kill(shard);
      for (const heal of heals) heal();
    });
  }

  #restartFront(front: RunningFront): void {
    this.#cluster.killFront(front);
    this.#healLater(this.#random.between(100, 2000), () => this.#cluster.startFront(front.name));
  }

  #addShard(): void {
    for (let index = 0; index < this.#profile.shardsMax; index += 1) {
      const name = `shard-${index}`;
      if (this.#wanted.has(name) || this.#cluster.shards.has(name)) continue;
      this.#wanted.add(name);
      this.#cluster.startShard(name);
      return;
    }
  }

  /** At an address of its own in discovery, or where a shard has just ended. */
  #addForeignShard(shard: RunningShard | undefined): void {
    const { fronts, foreign } = this.#cluster;
    // A front that has yet to learn the id, and reaches no shard of its own for long, would take the foreign one's.
    const isKnown = [...fronts.values()].every(({ front }) => front.cluster.id !== undefined);
    if (foreign !== undefined || !isKnown) return;
    const takesPlace = shard !== undefined && this.#random.chance(0.4);
    if (takesPlace) this.kill(shard);
    const heal = this.#cluster.startForeignShard(takesPlace ? shard.shardName : undefined);
    this.#healLater(this.#random.between(2000, 9000), heal);
  }

  #cutNetwork(front: RunningFront, shard: RunningShard): void {
    const way = this.#random.pick(['both', 'there', 'back']);
    this.#trace.add(front.process.name, `is cut off from ${shard.process.name} (${way})`);
    const heals: (() => void)[] = [];
    if (way !== 'back') heals.push(this.#cluster.network.cut(front.process, shard.process));
    if (way !== 'there') heals.push(this.#cluster.network.cut(shard.process, front.process));
    this.#healLater(this.#random.pick([600, 1300, 4000]) * this.#random.between(0.5, 1.2), () => {
      for (const heal of heals) heal();
    });
  }

  /** The front and the shard reach each other, and neither reaches the other shards or the store. */
  #isolateShard(front: RunningFront, shard: RunningShard): void {
    const { world } = this.#cluster;
    if (world.cutOff.size > 0) return;
    this.#trace.add(shard.process.name, 'is cut off from the store and reached by one front alone');
    world.cutOff.add(shard.process.name);
    const lengthMs = this.#random.pick([1500, 5000, 7000, 9000]);
    this.#isolateFront(front, shard, lengthMs);
    this.#healLater(lengthMs, () => world.cutOff.delete(shard.process.name));
  }

  /** While a shard is cut off from the store and reached by one front alone, another one starts again where it was. */
  #restartBeside(front: RunningFront, shard: RunningShard): void {
    const others = [...this.#cluster.shards.values()].filter((each) => each !== shard && !each.stopping);
    if (others.length === 0) return;
    const { scheduler } = this.#cluster;
    const other = this.#random.pick(others);
    this.#isolateShard(front, shard);
    scheduler.after(this.#random.between(10, 600), () => {
      if (!other.process.alive) return;
      this.#cluster.killShard(other, false);
      this.#startLater(other.shardName, this.#random.between(10, 300));
    });
  }

  /**
   * The watch of a shard's place loses its connection: of one that is alive, cut off from the store and reached by one
   * front alone, or of one that has just died, and may start again at any moment.
   */
  #doubtPlace(front: RunningFront, shard: RunningShard): void {
    const { scheduler } = this.#cluster;
    const { shardName } = shard;
    if (this.#random.chance(0.5)) {
      this.#isolateShard(front, shard);
      scheduler.after(this.#random.between(10, 600), () => this.#cluster.doubtPlace(shardName));
      return;
    }
    this.#cluster.killShard(shard, false);
    scheduler.after(this.#random.between(0, 100), () => this.#cluster.doubtPlace(shardName));
    this.#startLater(shardName, this.#random.pick([50, 300, 3000]) * this.#random.between(0.1, 1));
  }

  /**
   * The owner of the first slot hands it over, dies and starts again in its place, or loses the store, and the front
   * that only reads hears neither of that nor of any other shard but the one that reads for it.
   */
  #leaveApart(): void {
    const how = this.#random.pick(['hands over', 'dies', 'loses the store'] as const);
    const apart = this.#readApart(how === 'loses the store', how === 'loses the store' ? 7000 : 2500);
    if (apart === undefined) return;
    const { front, owner } = apart;
    this.#cluster.scheduler.after(this.#random.between(0, 30), () => {
      if (!owner.process.alive || owner.stopping) return;
      if (how === 'hands over') this.#stopShard(owner, true);
      else if (how === 'loses the store') this.#cutStore(owner);
      else {
        this.#cluster.network.silence(front.process, owner.process);
        this.#cluster.killShard(owner, false);
        this.#startLater(owner.shardName, this.#random.between(5, 50));
      }
    });
  }

  /**
   * No write reaches the owner any more, so that promises stand. Then it hands over, or loses the store, and of all
   * shards the front that only reads hears one of its readers alone, which does not hear of the owner any more.
   */
  #leavePromised(): void {
    const { fronts } = this.#cluster;
    const writer = fronts.get('front-1');
    const owner = this.#cluster.ownerOf(0);
    if (writer === undefined || owner === undefined || this.#isLeaving) return;
    this.#isLeaving = true;
    this.#trace.add(writer.process.name, `does not reach ${owner.process.name}`);
    const isHandover = this.#random.chance(0.5);
    const apartMs = isHandover ? 2500 : 7000;
    const heals = this.#cutBothWays(writer, owner);
    // Writes go on as soon as there is another owner.
    this.#cluster.network.reset(writer.process, owner.process);
    this.#healLater(UNWRITTEN_MS, () => {
      if (this.#cluster.ownerOf(0) === owner) {
        if (isHandover) this.#handOverPromised(apartMs);
        else this.#losePromised(apartMs);
      }
      this.#healLater(apartMs, () => {
        for (const heal of heals) heal();
        this.#isLeaving = false;
      });
    });
  }

  #handOverPromised(apartMs: number): void {
    const apart = this.#readApart(false, apartMs);
    if (apart === undefined) return;
    this.#leaveReader(apart, apartMs);
    this.#stopShard(apart.owner, true);
  }

  #losePromised(apartMs: number): void {
    const apart = this.#readApart(true, apartMs);
    if (apart === undefined) return;
    this.#cutStore(apart.owner, apartMs);
    // A reader looks after its owner every second.
    this.#cluster.scheduler.after(LEASE_MS - this.#random.between(0, 1000), () => this.#leaveReader(apart, apartMs));
  }

  /** A reader that hears of its owner's end ends, too. */
  #leaveReader({ owner, reader }: Apart, apartMs: number): void {
    if (reader === undefined) return;
    const heals = this.#cutBothWays(owner, reader);
    this.#healLater(apartMs, () => {
      for (const heal of heals) heal();
    });
  }

  /** Cuts the front that only reads off from all shards but its reader and, if it is heard, the owner. */
  #readApart(ownerHeard: boolean, lengthMs: number): Apart | undefined {
    const { shards, fronts, world } = this.#cluster;
    const front = fronts.get('front-0');
    const owner = this.#cluster.ownerOf(0);
    const others = [...shards.values()].filter((each) => each !== owner && !each.stopping);
    if (front === undefined || owner === undefined || others.length < 2 || world.cutOff.size > 0) return undefined;
    const chosen = chooseReader(
      others.map(({ shardName }) => ({ shardName, seed: seedOfReader(shardName) })),
      `user0:s${this.#profile.firstSubject}`,
    );
    const unheard = others.filter(({ shardName }) => shardName !== chosen?.shardName);
    if (!ownerHeard) unheard.push(owner);
    this.#trace.add(front.process.name, `hears nothing of ${unheard.map(({ shardName }) => shardName)}`);
    const heals = unheard.flatMap((shard) => this.#cutBothWays(front, shard));
    this.#healLater(lengthMs, () => {
      for (const heal of heals) heal();
    });
    return { front, owner, reader: others.find(({ shardName }) => shardName === chosen?.shardName) };
  }

  #cutBothWays(
    left: { readonly process: RunningShard['process'] },
    right: { readonly process: RunningShard['process'] },
  ): (() => void)[] {
    const { network } = this.#cluster;
    return [network.cut(left.process, right.process), network.cut(right.process, left.process)];
  }

  /** The front reaches this shard alone. */
  #isolateFront(front: RunningFront, shard: RunningShard, lengthMs: number): void {
    const { network, shards } = this.#cluster;
    this.#trace.add(front.process.name, `reaches ${shard.process.name} alone`);
    const heals: (() => void)[] = [];
    for (const { process } of shards.values()) {
      if (process === shard.process) continue;
      heals.push(network.cut(front.process, process), network.cut(process, front.process));
    }
    this.#healLater(lengthMs, () => {
      for (const heal of heals) heal();
    });
  }

  #cutStore({ process }: RunningShard, lengthMs = this.#random.pick([800, 1500, 3500, 5000, 6000, 12_000])): void {
    const { world } = this.#cluster;
    if (world.cutOff.has(process.name)) return;
    this.#trace.add(process.name, 'is cut off from the store');
    world.cutOff.add(process.name);
    this.#healLater(lengthMs, () => {
      this.#trace.add(process.name, 'reaches the store again');
      world.cutOff.delete(process.name);
    });
  }

  /**
   * The store serves the log and reads, but no heartbeats, which is enough to be declared dead, and no writes of state.
   */
  #cutHeartbeats({ process }: RunningShard): void {
    const { world } = this.#cluster;
    if (world.withoutHeartbeats.has(process.name)) return;
    this.#trace.add(process.name, 'cannot heartbeat');
    world.withoutHeartbeats.add(process.name);
    this.#healLater(this.#random.between(4000, 9000), () => {
      this.#trace.add(process.name, 'can heartbeat again');
      world.withoutHeartbeats.delete(process.name);
    });
  }

  #storeDown(lengthMs: number): void {
    const { world } = this.#cluster;
    if (world.down) return;
    this.#trace.add('store', 'is down');
    world.down = true;
    this.#healLater(lengthMs, () => {
      this.#trace.add('store', 'is up again');
      world.down = false;
    });
  }

  #jumpWall({ process }: { readonly process: RunningShard['process'] }, jumpsMs: readonly number[]): void {
    const byMs = this.#random.pick(jumpsMs);
    this.#trace.add(process.name, `its wall clock jumps by ${byMs} ms`);
    process.jumpWall(byMs);
  }

  #makeClockWrong(shard: RunningShard): void {
    const { world } = this.#cluster;
    const byMs = this.#random.pick([HOUR_MS, -HOUR_MS]);
    const whose = this.#random.pick(['shard', 'starting-shard', 'store'] as const);
    this.#clockIsWrong = true;
    this.#trace.add('world', `the clock of a ${whose} is ${byMs} ms off`);
    const lengthMs = this.#random.pick([1000, 4000, 10_000]);
    if (whose === 'store') {
      world.wallSkewMs = byMs;
    } else if (whose === 'shard') {
      shard.process.jumpWall(byMs);
    } else {
      // Whichever shard starts next.
      this.#cluster.startsOffMs = byMs;
      this.#cluster.killShard(shard, false);
    }
    this.#healLater(lengthMs, () => {
      this.#trace.add('world', `the clock of a ${whose} is right again`);
      this.#clockIsWrong = false;
      if (whose === 'store') world.wallSkewMs = 0;
      else if (whose === 'shard') shard.process.jumpWall(-byMs);
      else this.#cluster.correctStarted();
    });
  }

  /** What the front sends the shard is long on its way; what comes back is not. */
  #stall(front: RunningFront, shard: RunningShard, lengthMs: number): void {
    this.#trace.add(front.process.name, `sends ${shard.process.name} what arrives in ${Math.round(lengthMs)} ms`);
    this.#healLater(lengthMs, this.#cluster.network.stall(front.process, shard.process));
  }

  /** A record that state does not hold yet vanishes in the middle of the log, and its owner dies. */
  #loseRecord(): void {
    const { world, shards } = this.#cluster;
    for (const row of world.store.slotRows()) {
      const owner = [...shards.values()].find(({ node }) => node.incarnation === row.owner);
      const checkpoint = world.store.checkpointOf(row.slot)?.seq ?? 0;
      const seqs = world.store.seqsOf(row.slot).filter((seq) => seq > checkpoint);
      const victims = seqs.slice(0, -1);
      if (owner === undefined || victims.length === 0) continue;
      const seq = this.#random.pick(victims);
      this.#trace.add('store', `loses seq ${seq} of slot ${row.slot}`);
      this.lostSlots.add(row.slot);
      world.store.loseRecord(row.slot, seq);
      this.kill(owner);
      return;
    }
  }
}
