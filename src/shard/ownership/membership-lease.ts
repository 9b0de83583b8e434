// The session of one incarnation: its row among the members, and the heartbeats that renew its lease. Invariant: the
// lease is valid only while no other member can have declared this incarnation dead. A heartbeat is a conditional write
// of a new number to the row. Once applied, it renews the lease, counted from its *start*. A declaration of
// death is conditional on the same row: if a newer heartbeat came first, the declaration fails; if the declaration came
// first, no later heartbeat is applied.
//
//   joining ──inserted, first heartbeat──▶ alive ──drain──▶ draining ──leave──▶ ended
//      └── stopped, refused ──▶ ended    └── declared dead ──┴──────────▶ ended
//
// A heartbeat that timed out may have been applied or not. The next one settles it, since it is conditional on the
// number before.

import { type Clock, delay } from '../../core/async/clock.ts';
import type { ClusterId } from '../../core/ids.ts';
import type { MemberRow, MemberStore, MetaStore } from '../../store/store.ts';
import type { Log } from '../../telemetry/log.ts';
import { declareEnded } from './predecessors.ts';

export const HEARTBEAT_INTERVAL_MS = 250;
/** After this the shard sends the next heartbeat, to another coordinator. */
export const HEARTBEAT_TIMEOUT_MS = 500;
/**
 * Of a new cluster. It outlasts an event loop, or a store, that stands still for a second at the worst moment:
 *
 *   interval + the second + one attempt that is lost at its end + 250 ms until the next one is stored
 *
 * docs/adr/0029-two-second-leases.md derives it, and says what a longer one would cost.
 */
export const LEASE_MS = 2000;
/** A larger gap between heartbeats resets `steadySinceMs`, which a shard needs to declare another member dead. */
export const STEADY_GAP_MS_MAX = 1000;
const JOIN_RETRY_MS = 200;
/** Heartbeats whose start is kept: those of twice the time of a lease. An older one that is seen renews nothing. */
const SENT_MAX = 16;

export interface LeasePorts {
  readonly store: MemberStore & Pick<MetaStore, 'readMeta'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Only this session renews it. */
  readonly lease: Lease;
  /** Consulted before each heartbeat. */
  readonly health: LeaseHealth;
  readonly observe: (heartbeat: {
    readonly outcome: 'applied' | 'unknown' | 'skipped';
    readonly seconds: number;
  }) => void;
  /** Whether this shard accepts slots: its wall clock agrees with the others. */
  readonly takes: () => boolean;
  /** Called when a heartbeat is applied after the lease has run out. */
  readonly onLapsed: () => void;
  /** Called once, when this incarnation is dead for good without having left. */
  readonly onEnded: (reason: string) => void;
}

export interface LeaseHealth {
  /** Without heartbeats the slots go to other shards. */
  readonly healthy: boolean;
  /** When this process last proved healthy, on the monotonic clock. The next heartbeat reports it. */
  readonly provenAtMs: number;
}

export interface LeaseOptions {
  readonly clusterId: ClusterId;
  readonly incarnation: string;
  readonly shardName: string;
  readonly address: string;
  readonly place: string | undefined;
}

interface SentHeartbeat extends HeartbeatStart {
  /** The health that this heartbeat reports. */
  readonly provenAtMs: number;
}

export class MembershipLease {
  readonly incarnation: string;
  readonly #ports: LeasePorts;
  readonly #options: LeaseOptions;
  readonly #lease: Lease;
  #state: 'joining' | 'alive' | 'draining' | 'ended' = 'joining';
  /** Sent heartbeats by number: of the last applied one and all later ones, each of which may have been applied. */
  readonly #sent = new Map<number, SentHeartbeat>();
  #appliedHeartbeat = 0;
  #healthyHeartbeat = 0;
  #reportedProvenAtMs = Number.NEGATIVE_INFINITY;
  #lastNumber = 0;
  #appliedAtMs = Number.NEGATIVE_INFINITY;
  #steadySinceMs = Number.POSITIVE_INFINITY;
  /** The failure of heartbeats was logged, and none has been applied since. */
  #failing = false;
  #wakeHeartbeat: (() => void) | undefined;
  /** `drain` was called, and no heartbeat has announced it yet. */
  #drainUnannounced = false;

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

  /** Whether the shard may answer now. Read per message, and again after the last await before answering. */
  get leaseValid(): boolean {
    return this.#lease.valid;
  }

  /** 0: the shard may not answer. Infinite: the lease does not expire. */
  get leaseLeftMs(): number {
    return this.#lease.leftMs;
  }

  /**
   * Since when heartbeats have been applied without a gap of more than a second, on the monotonic clock. Infinite if
   * the last one is too long ago.
   */
  get steadySinceMs(): number {
    const nowMs = this.#ports.clock.monotonicMs();
    return nowMs - this.#appliedAtMs > STEADY_GAP_MS_MAX ? Number.POSITIVE_INFINITY : this.#steadySinceMs;
  }

  /**
   * Inserts the row and sends one heartbeat. Retries until the lease is valid or the session has ended. Rejects if the
   * store belongs to another cluster by now: then this process must end.
   */
  async join(): Promise<void> {
    const { clock, log } = this.#ports;
    for (let failed = false; !this.ended; failed = true) {
      const error = await this.#insert();
      if (error === undefined) break;
      if (!failed)
        log.warn({ err: error, incarnation: this.incarnation }, 'cannot insert the member row yet; retrying');
      await delay(clock, JOIN_RETRY_MS);
    }
    await this.#confirmCluster();
    while (!this.ended && !this.leaseValid) {
      await this.#heartbeat();
      if (!this.leaseValid && !this.ended) await delay(clock, JOIN_RETRY_MS);
    }
    if (this.ended) return;
    if (this.#state === 'joining') this.#state = 'alive';
    if (this.#lease.runsOut) void this.#keepHeartbeating();
  }

  /** Announces, with a heartbeat sent right away, that this member hands over its slots. */
  drain(): void {
    if (this.ended) return;
    this.#state = 'draining';
    this.#drainUnannounced = true;
    this.#wakeHeartbeat?.();
  }

  /** Whether this member accepts slots has changed: a heartbeat says so right away. */
  announce(): void {
    this.#wakeHeartbeat?.();
  }

  /**
   * Ends the session deliberately, so that no member waits for its lease to expire. Call it after releasing every slot.
   */
  async leave(): Promise<void> {
    if (this.ended) return;
    this.#end();
    await declareEnded(this.#ports, { incarnation: this.incarnation, heartbeat: this.#appliedHeartbeat });
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

  /**
   * Undefined: the row is known to exist; otherwise why that is not known. An incarnation is never inserted again once
   * its row was seen.
   */
  async #insert(): Promise<unknown> {
    const { store, clock } = this.#ports;
    const { incarnation, shardName, address, place } = this.#options;
    const sent = this.#sent.get(0) ?? this.#startHeartbeat();
    this.#sent.set(0, sent);
    const startedAtMs = Math.round(sent.startMs + sent.wallOffsetMs);
    const heartbeats = { heartbeat: 0, healthyHeartbeat: 0, wallMs: startedAtMs };
    const state = this.#ports.takes() ? 'alive' : 'draining';
    const member: MemberRow = { incarnation, shardName, address, state, ...heartbeats, startedAtMs, place };
    try {
      const outcome = await store.insertMember(member, clock.monotonicMs() + HEARTBEAT_TIMEOUT_MS);
      if (outcome.row?.state === 'dead') this.#lose('Another member declared this one dead before it could join.');
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /**
   * The store of a restored copy gets its id before the members that it lists are declared dead. So a member
   * that has a row now and finds the id that it knows is declared dead later; one that joins later finds the new id.
   */
  async #confirmCluster(): Promise<void> {
    const { store, clock } = this.#ports;
    const { clusterId } = this.#options;
    for (; !this.ended; await delay(clock, JOIN_RETRY_MS)) {
      const meta = await store.readMeta(clock.monotonicMs() + HEARTBEAT_TIMEOUT_MS).catch(() => undefined);
      if (meta?.clusterId === clusterId) return;
      if (meta === undefined) continue;
      await this.leave();
      throw new Error(`The store was given the cluster ID ${meta.clusterId}; this process belongs to ${clusterId}.`);
    }
  }

  async #keepHeartbeating(): Promise<void> {
    const { clock } = this.#ports;
    // The first heartbeat was applied just now.
    await this.#pause(HEARTBEAT_INTERVAL_MS);
    while (!this.ended) {
      const startMs = clock.monotonicMs();
      if (this.#ports.health.healthy) {
        await this.#heartbeat();
      } else {
        // The health watch has logged the reason; the slots go to other shards.
        this.#ports.observe({ outcome: 'skipped', seconds: 0 });
      }
      if (this.ended) return;
      await this.#pause(startMs + HEARTBEAT_INTERVAL_MS - clock.monotonicMs());
    }
  }

  /** Waits until the next heartbeat is due, or `drain` needs one now. */
  async #pause(delayMs: number): Promise<void> {
    if (delayMs <= 0 || this.#drainUnannounced) return;
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
    this.#forgetBefore(heartbeat - SENT_MAX + 1);
    const state = this.#state === 'draining' || !this.#ports.takes() ? 'draining' : 'alive';
    const wallMs = Math.round(sent.startMs + sent.wallOffsetMs);
    this.#drainUnannounced = false;
    // Reported again until a heartbeat that carries it is applied.
    const healthyHeartbeat = sent.provenAtMs > this.#reportedProvenAtMs ? heartbeat : this.#healthyHeartbeat;
    try {
      const { applied, row } = await store.writeHeartbeat(
        { incarnation, expectedHeartbeat: this.#appliedHeartbeat, heartbeat, healthyHeartbeat, wallMs, state },
        sent.startMs + HEARTBEAT_TIMEOUT_MS,
      );
      this.#observe('applied', sent);
      if (row !== undefined) this.#healthyHeartbeat = row.healthyHeartbeat;
      if (applied) this.#markApplied(heartbeat);
      else if (row === undefined) this.#lose('The row of this member no longer exists.');
      else if (row.state === 'dead') this.#lose('Another member declared this one dead.');
      else if (row.heartbeat >= this.#appliedHeartbeat && row.heartbeat <= heartbeat) this.#markApplied(row.heartbeat);
      else this.#lose(`The row of this member holds heartbeat ${row.heartbeat}, which this process did not send.`);
    } catch (error) {
      // The next heartbeat finds out whether this one was applied.
      this.#observe('unknown', sent);
      const { log } = this.#ports;
      if (!this.#failing) log.warn({ err: error }, 'cannot tell whether a heartbeat was applied; going on');
      this.#failing = true;
    }
  }

  #observe(outcome: 'applied' | 'unknown', { startMs }: SentHeartbeat): void {
    this.#ports.observe({ outcome, seconds: (this.#ports.clock.monotonicMs() - startMs) / 1000 });
  }

  #markApplied(heartbeat: number): void {
    if (this.ended) return;
    this.#failing = false;
    const nowMs = this.#ports.clock.monotonicMs();
    if (nowMs - this.#appliedAtMs > STEADY_GAP_MS_MAX) this.#steadySinceMs = nowMs;
    if (Number.isFinite(this.#appliedAtMs) && !this.leaseValid) this.#ports.onLapsed();
    this.#appliedAtMs = nowMs;
    this.#appliedHeartbeat = heartbeat;
    this.#forgetBefore(heartbeat);
    const sent = this.#sent.get(heartbeat);
    if (sent === undefined) return;
    this.#reportedProvenAtMs = Math.max(this.#reportedProvenAtMs, sent.provenAtMs);
    this.#lease.renew(sent);
  }

  #forgetBefore(heartbeat: number): void {
    for (const number of this.#sent.keys()) if (number < heartbeat) this.#sent.delete(number);
  }
}

// ---- leases ----
//
// The lease of a session: whether it may answer now, and for how long. If members share a store, heartbeats renew the
// lease, and it expires without them. If one process has the store to itself, no other can take a slot, so the lease
// does not expire.
//
// Invariant: a renewed lease is valid only until `leaseMs` after the *start* of the heartbeat that renewed it, on the
// monotonic clock. This assumes that the monotonic clock runs whenever the process can run. If the machine was
// suspended, the wall clock has moved against the monotonic clock; the lease is then invalid until a heartbeat that
// began later.

/**
 * Less than the margin that others wait beyond the lease, so a machine suspended for less has not outlived its lease.
 */
const WALL_JUMP_MS_MAX = 200;

/** The time at which a heartbeat was sent. */
export interface HeartbeatStart {
  readonly startMs: number;
  /** Wall clock minus monotonic clock. */
  readonly wallOffsetMs: number;
}

export interface Lease {
  /** Whether the lease expires unless heartbeats renew it. */
  readonly runsOut: boolean;
  /** Whether the shard may answer now. Read per message, and again after the last await before answering. */
  readonly valid: boolean;
  /** 0: the shard may not answer. Infinite: the lease does not expire. */
  readonly leftMs: number;
  /** This heartbeat was applied. */
  renew(heartbeat: HeartbeatStart): void;
  /** Ends the lease for good, with its session. */
  end(): void;
}

/** The lease of a member among others. */
export class RenewedLease implements Lease {
  readonly runsOut = true;
  readonly #clock: Clock;
  readonly #leaseMs: number;
  #untilMs = Number.NEGATIVE_INFINITY;
  #wallOffsetMs = 0;
  #ended = false;

  constructor(clock: Clock, leaseMs: number) {
    this.#clock = clock;
    this.#leaseMs = leaseMs;
  }

  get valid(): boolean {
    const nowMs = this.#clock.monotonicMs();
    return nowMs < this.#untilMs && !this.#wallJumped(nowMs);
  }

  get leftMs(): number {
    const nowMs = this.#clock.monotonicMs();
    return this.#wallJumped(nowMs) ? 0 : Math.max(0, this.#untilMs - nowMs);
  }

  renew({ startMs, wallOffsetMs }: HeartbeatStart): void {
    if (this.#ended) return;
    this.#untilMs = startMs + this.#leaseMs;
    this.#wallOffsetMs = wallOffsetMs;
  }

  end(): void {
    this.#ended = true;
    this.#untilMs = Number.NEGATIVE_INFINITY;
  }

  #wallJumped(nowMs: number): boolean {
    return Math.abs(this.#clock.wallMs() - nowMs - this.#wallOffsetMs) > WALL_JUMP_MS_MAX;
  }
}

/** The lease of a process that has the store to itself: valid from its first heartbeat to its end. */
export class LastingLease implements Lease {
  readonly runsOut = false;
  #state: 'new' | 'valid' | 'ended' = 'new';

  get valid(): boolean {
    return this.#state === 'valid';
  }

  get leftMs(): number {
    return this.valid ? Number.POSITIVE_INFINITY : 0;
  }

  renew(): void {
    if (this.#state === 'new') this.#state = 'valid';
  }

  end(): void {
    this.#state = 'ended';
  }
}
