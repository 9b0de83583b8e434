// The lease of a session: whether it may answer now, and for how long. Where members share a store, heartbeats renew
// it, and it runs out without them; on a store that its process holds alone nobody can take a slot over, so it lasts.
//
// It keeps: a renewed lease is valid only until the *start* of the heartbeat that gave it + `leaseMs` on the monotonic
// clock. Assumed of the machine: that clock runs while the process could run. Where it did not (a suspended machine),
// the wall clock has moved against it, and the lease is suspended until a heartbeat that began afterwards.

import type { Clock } from '../../core/async/clock.ts';

/** Less than what others wait beyond the lease: a machine that was suspended for less has not outlived it. */
const WALL_JUMP_MS_MAX = 200;

/** When a heartbeat was sent. */
export interface HeartbeatStart {
  readonly startMs: number;
  /** Wall clock minus monotonic clock. */
  readonly wallOffsetMs: number;
}

export interface Lease {
  /** Whether it runs out unless heartbeats renew it. */
  readonly runsOut: boolean;
  /** Whether answers may be given now. Read per message, and again after the last await of an answer. */
  readonly valid: boolean;
  /** 0: no answer may be given. Infinite where it does not run out. */
  readonly leftMs: number;
  /** This heartbeat was applied. */
  renew(heartbeat: HeartbeatStart): void;
  /** For good: the session is over. */
  end(): void;
}

/** Of a member among others. */
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

/** Of a process that holds the store alone: from its first heartbeat to its end. */
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
