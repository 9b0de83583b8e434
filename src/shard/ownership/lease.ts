// The lease of a session: whether it may answer now, and for how long. If members share a store, heartbeats renew the
// lease, and it expires without them. If one process has the store to itself, no other can take a slot, so the lease
// does not expire.
//
// Invariant: a renewed lease is valid only until `leaseMs` after the *start* of the heartbeat that renewed it, on the
// monotonic clock. This assumes that the monotonic clock runs whenever the process can run. If the machine was
// suspended, the wall clock has moved against the monotonic clock; the lease is then invalid until a heartbeat that
// began later.

import type { Clock } from '../../core/async/clock.ts';

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
