// The session of one incarnation: its row among the members, and the heartbeats that renew its lease. It keeps: the
// lease is valid only while nobody can have declared this incarnation dead. A heartbeat is a conditional write on the
// row with a new number; the heartbeat whose number stands renews the lease, from its *start* on (lease.ts). A
// declaration of death is conditional on the same row: either a newer heartbeat was first, and it fails, or it was
// first, and no heartbeat stands any more.
//
//   joining ──inserted, first heartbeat──▶ alive ──drain──▶ draining ──leave──▶ ended
//      └── stopped, refused ──▶ ended    └── declared dead ──┴──────────▶ ended
//
// A heartbeat that timed out may stand or not: the next one finds out, since it is conditional on the number before.

import { type Clock, delay } from '../../core/async/clock.ts';
import type { MemberRow, MemberStore } from '../../store/store.ts';
import type { Log } from '../../telemetry/log.ts';
import type { HeartbeatStart, Lease } from './lease.ts';
import { declareEnded } from './predecessors.ts';

export const HEARTBEAT_INTERVAL_MS = 500;
/** A heartbeat that takes longer is given up for another coordinator's; five fit into a lease. */
const HEARTBEAT_TIMEOUT_MS = 700;
/** Heartbeats further apart than this break the steadiness that declaring another member dead demands. */
export const STEADY_GAP_MS_MAX = 1000;
const JOIN_RETRY_MS = 200;

export interface LeasePorts {
  readonly store: MemberStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Renewed by this session alone. */
  readonly lease: Lease;
  /** Asked before each heartbeat. */
  readonly health: LeaseHealth;
  readonly observe: (heartbeat: {
    readonly outcome: 'applied' | 'unknown' | 'skipped';
    readonly seconds: number;
  }) => void;
  /** Once: this incarnation is dead for good, without having left. */
  readonly onEnded: (reason: string) => void;
}

export interface LeaseHealth {
  /** Without heartbeats the slots go to other shards. */
  readonly healthy: boolean;
  /** When this process was last seen to do its work, on the monotonic clock. The next heartbeat tells of it. */
  readonly provenAtMs: number;
}

export interface LeaseOptions {
  readonly incarnation: string;
  readonly shardName: string;
  readonly address: string;
  readonly place: string | undefined;
}

interface SentHeartbeat extends HeartbeatStart {
  /** What it tells of the health of this process. */
  readonly provenAtMs: number;
}

export class MembershipLease {
  readonly incarnation: string;
  readonly #ports: LeasePorts;
  readonly #options: LeaseOptions;
  readonly #lease: Lease;
  #state: 'joining' | 'alive' | 'draining' | 'ended' = 'joining';
  /** Heartbeats by number, those that may stand: the one that does and later ones. */
  readonly #sent = new Map<number, SentHeartbeat>();
  #standing = 0;
  #healthyHeartbeat = 0;
  #toldProvenAtMs = Number.NEGATIVE_INFINITY;
  #lastNumber = 0;
  #stoodAtMs = Number.NEGATIVE_INFINITY;
  #steadySinceMs = Number.POSITIVE_INFINITY;
  #wakeHeartbeat: (() => void) | undefined;
  /** No heartbeat since `drain` has said so. */
  #drainUntold = false;

  constructor(ports: LeasePorts, options: LeaseOptions) {
    this.incarnation = options.incarnation;
    this.#ports = ports;
    this.#options = options;
    this.#lease = ports.lease;
  }

  get state(): 'joining' | 'alive' | 'draining' | 'ended' {
    return this.#state;
  }

  get ended(): boolean {
    return this.#state === 'ended';
  }

  /** Whether answers may be given now. Read per message, and again after the last await of an answer. */
  get leaseValid(): boolean {
    return this.#lease.valid;
  }

  /** 0: no answer may be given. Infinite where the lease does not run out. */
  get leaseLeftMs(): number {
    return this.#lease.leftMs;
  }

  /**
   * Since when heartbeats have stood without a gap of more than a second, on the monotonic clock; in the future where
   * the last one is too long ago.
   */
  get steadySinceMs(): number {
    const nowMs = this.#ports.clock.monotonicMs();
    return nowMs - this.#stoodAtMs > STEADY_GAP_MS_MAX ? Number.POSITIVE_INFINITY : this.#steadySinceMs;
  }

  /**
   * Inserts the row and heartbeats once. Resolves when the lease is valid, or the session has ended. Tries until then.
   */
  async join(): Promise<void> {
    const { clock, log } = this.#ports;
    for (let refused = false; !this.ended && !(await this.#insert()); ) {
      if (!refused) log.warn({ incarnation: this.incarnation }, 'the store does not take the member yet; trying again');
      refused = true;
      await delay(clock, JOIN_RETRY_MS);
    }
    while (!this.ended && !this.leaseValid) {
      await this.#heartbeat();
      if (!this.leaseValid && !this.ended) await delay(clock, JOIN_RETRY_MS);
    }
    if (this.ended) return;
    if (this.#state === 'joining') this.#state = 'alive';
    if (this.#lease.runsOut) void this.#keepHeartbeating();
  }

  /** From the next heartbeat on, which is now, the other members know that this one hands its slots over. */
  drain(): void {
    if (this.ended) return;
    this.#state = 'draining';
    this.#drainUntold = true;
    this.#wakeHeartbeat?.();
  }

  /** Ends the session of its own accord, so that nobody has to wait for its lease. After every slot was released. */
  async leave(): Promise<void> {
    if (this.ended) return;
    this.#end();
    await declareEnded(this.#ports, { incarnation: this.incarnation, heartbeat: this.#standing });
  }

  #end(): void {
    this.#state = 'ended';
    this.#lease.end();
    this.#wakeHeartbeat?.();
  }

  #lose(reason: string): void {
    if (this.ended) return;
    this.#end();
    this.#ports.onEnded(reason);
  }

  #startHeartbeat(): SentHeartbeat {
    const startMs = this.#ports.clock.monotonicMs();
    const { provenAtMs } = this.#ports.health;
    return { startMs, wallOffsetMs: this.#ports.clock.wallMs() - startMs, provenAtMs };
  }

  /** Whether the row is known to stand. An incarnation is inserted once and never again after it was seen. */
  async #insert(): Promise<boolean> {
    const { store, clock } = this.#ports;
    const { incarnation, shardName, address, place } = this.#options;
    const sent = this.#sent.get(0) ?? this.#startHeartbeat();
    this.#sent.set(0, sent);
    const startedAtMs = Math.round(sent.startMs + sent.wallOffsetMs);
    const heartbeats = { heartbeat: 0, healthyHeartbeat: 0 };
    const member: MemberRow = { incarnation, shardName, address, state: 'alive', ...heartbeats, startedAtMs, place };
    try {
      const outcome = await store.insertMember(member, clock.monotonicMs() + HEARTBEAT_TIMEOUT_MS);
      if (outcome.row?.state === 'dead') this.#lose('The member was declared dead before it could join.');
      return true;
    } catch {
      return false;
    }
  }

  async #keepHeartbeating(): Promise<void> {
    const { clock, log } = this.#ports;
    let skipped = false;
    // The first heartbeat has just stood.
    await this.#pause(HEARTBEAT_INTERVAL_MS);
    while (!this.ended) {
      const startMs = clock.monotonicMs();
      if (this.#ports.health.healthy) {
        skipped = false;
        await this.#heartbeat();
      } else {
        if (!skipped) log.error('this shard is unhealthy: no heartbeats, so that its slots go to other shards');
        skipped = true;
        this.#ports.observe({ outcome: 'skipped', seconds: 0 });
      }
      if (this.ended) return;
      await this.#pause(startMs + HEARTBEAT_INTERVAL_MS - clock.monotonicMs());
    }
  }

  /** Until the next heartbeat is due, or `drain` wants one now. */
  async #pause(delayMs: number): Promise<void> {
    if (delayMs <= 0 || this.#drainUntold) return;
    await new Promise<void>((resolve) => {
      const timer = this.#ports.clock.setTimer(resolve, delayMs);
      this.#wakeHeartbeat = () => {
        timer.cancel();
        resolve();
      };
    });
    this.#wakeHeartbeat = undefined;
  }

  async #heartbeat(): Promise<void> {
    const { store } = this.#ports;
    const { incarnation } = this;
    const sent = this.#startHeartbeat();
    this.#lastNumber += 1;
    const heartbeat = this.#lastNumber;
    this.#sent.set(heartbeat, sent);
    const state = this.#state === 'draining' ? 'draining' : 'alive';
    this.#drainUntold = false;
    // Told again until a heartbeat stands that has told it.
    const healthyHeartbeat = sent.provenAtMs > this.#toldProvenAtMs ? heartbeat : this.#healthyHeartbeat;
    try {
      const { applied, row } = await store.writeHeartbeat(
        { incarnation, expectedHeartbeat: this.#standing, heartbeat, healthyHeartbeat, state },
        sent.startMs + HEARTBEAT_TIMEOUT_MS,
      );
      this.#observe('applied', sent);
      if (row !== undefined) this.#healthyHeartbeat = row.healthyHeartbeat;
      if (applied) this.#stand(heartbeat);
      else if (row === undefined) this.#lose('The row of the member is gone.');
      else if (row.state === 'dead') this.#lose('Another member has declared this one dead.');
      else if (row.heartbeat >= this.#standing && this.#sent.has(row.heartbeat)) this.#stand(row.heartbeat);
      else this.#lose(`The row of the member holds heartbeat ${row.heartbeat}, which this process did not make.`);
    } catch {
      // Whether it stands the next one finds out.
      this.#observe('unknown', sent);
    }
  }

  #observe(outcome: 'applied' | 'unknown', { startMs }: SentHeartbeat): void {
    this.#ports.observe({ outcome, seconds: (this.#ports.clock.monotonicMs() - startMs) / 1000 });
  }

  #stand(heartbeat: number): void {
    if (this.ended) return;
    const sent = this.#sent.get(heartbeat);
    if (sent === undefined) return;
    const nowMs = this.#ports.clock.monotonicMs();
    if (nowMs - this.#stoodAtMs > STEADY_GAP_MS_MAX) this.#steadySinceMs = nowMs;
    this.#stoodAtMs = nowMs;
    this.#standing = heartbeat;
    this.#toldProvenAtMs = Math.max(this.#toldProvenAtMs, sent.provenAtMs);
    for (const number of this.#sent.keys()) if (number < heartbeat) this.#sent.delete(number);
    this.#lease.renew(sent);
  }
}
