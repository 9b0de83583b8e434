// The gate before work that takes memory for a while: reads of the store, and calls that hold many tuples. Invariant:
// the bytes of admitted work stay within a bound per tenant and per process, reserved before and returned after; the
// number of admitted items has a bound per tenant. Everything else waits: in order within a tenant, tenants in turn.
// Work that waits too long, or behind too many of the same tenant, is refused with `overloaded`, but never because of
// another tenant's requests. Admitted work never waits at the same gate again, so it cannot wait for itself.

import type { Clock, Timer } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';

/** Waiting calls of one tenant. Each already counts towards the limit of its peer. */
const WAITING_MAX = 10_000;
/** Less than half of a request's deadline, so that a read of the store still fits after it. */
const WAIT_MS_MAX = 4000;
/** Waiting calls refused in one step. */
const REFUSALS_PER_STEP = 250;
/** At least this many calls of a tenant are admitted at once, however small the budget: none counts as larger. */
const AT_ONCE_MIN = 4;

/** Divisor of the bytes: background work begins only while less is reserved. */
const SPARE_SHARE = 2;

export interface LoadGateOptions {
  /** Bound of the process. */
  readonly bytesMax: number;
  readonly tenantBytesMax: number;
  /** Calls of one tenant at once, however little memory each takes. */
  readonly tenantCountMax: number;
  /** Called at every change of the reserved bytes. */
  readonly onChange: (bytes: number) => void;
}

interface Waiter {
  readonly bytes: number;
  readonly untilMs: number;
  readonly admit: () => void;
  readonly refuse: (error: GrantdError) => void;
}

interface Share {
  bytes: number;
  count: number;
  readonly waiting: Set<Waiter>;
  timer: Timer | undefined;
}

export class LoadGate {
  readonly #options: LoadGateOptions;
  readonly #shares = new Map<string, Share>();
  /** Tenants with waiting calls; the first has the next turn. */
  readonly #turns = new Map<string, Share>();
  /** Whether a call waits for capacity of the process, so that no other is admitted before it. */
  #full = false;
  #bytes = 0;
  #waiting = 0;
  #refused = 0;

  constructor(options: LoadGateOptions) {
    this.#options = options;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** What one call counts as at most. */
  get callBytesMax(): number {
    return this.#options.tenantBytesMax / AT_ONCE_MIN;
  }

  /** Calls refused since the start. */
  get refused(): number {
    return this.#refused;
  }

  /** Runs `work` with `bytes` reserved for it. Rejects with `overloaded` before it begins, or as `work` does. */
  async run<Result>(tenant: string, bytes: number, clock: Clock, work: () => Promise<Result>): Promise<Result> {
    const leave = await this.enter(tenant, bytes, clock);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Resolves when there is capacity, with a function that returns it. Rejects with `overloaded`. */
  async enter(tenant: string, bytes: number, clock: Clock): Promise<() => void> {
    const reserved = this.#bounded(bytes);
    const present = this.#shares.get(tenant);
    const mayEnter = present === undefined || (present.waiting.size === 0 && this.#fits(present, reserved));
    if (mayEnter && !this.#full && this.#bytes + reserved <= this.#options.bytesMax) {
      return this.#letIn(tenant, reserved);
    }
    const share = this.#share(tenant);
    if (share.waiting.size >= WAITING_MAX) throw this.#overloaded(tenant, share);
    await new Promise<void>((admit, refuse) => {
      share.waiting.add({ bytes: reserved, untilMs: clock.monotonicMs() + WAIT_MS_MAX, admit, refuse });
      this.#waiting += 1;
      this.#turns.set(tenant, share);
      this.#schedule(tenant, share, clock);
      this.#admit();
    });
    return this.#leaving(tenant, share, reserved);
  }

  /** Whether background work would delay no call: none of this tenant waits, and half of the bytes are free. */
  hasSpare(tenant: string): boolean {
    const waiting = this.#shares.get(tenant)?.waiting.size ?? 0;
    return !this.#full && waiting === 0 && this.#bytes < this.#options.bytesMax / SPARE_SHARE;
  }

  /**
   * For background work that shortens the waits of others: admitted immediately, ahead of waiting calls, if there is
   * capacity in bytes.
   */
  tryEnter(tenant: string, bytes: number): (() => void) | undefined {
    const reserved = this.#bounded(bytes);
    const { bytesMax, tenantBytesMax } = this.#options;
    if (this.#full || this.#bytes + reserved > bytesMax) return undefined;
    if ((this.#shares.get(tenant)?.bytes ?? 0) + reserved > tenantBytesMax) return undefined;
    return this.#letIn(tenant, reserved);
  }

  #letIn(tenant: string, bytes: number): () => void {
    const share = this.#share(tenant);
    this.#reserve(share, bytes);
    return this.#leaving(tenant, share, bytes);
  }

  #bounded(bytes: number): number {
    return Math.min(bytes, this.callBytesMax);
  }

  #share(tenant: string): Share {
    let share = this.#shares.get(tenant);
    if (share === undefined) {
      share = { bytes: 0, count: 0, waiting: new Set(), timer: undefined };
      this.#shares.set(tenant, share);
    }
    return share;
  }

  #fits({ bytes, count }: Share, further: number): boolean {
    const { tenantBytesMax, tenantCountMax } = this.#options;
    return bytes + further <= tenantBytesMax && count < tenantCountMax;
  }

  #reserve(share: Share, bytes: number): void {
    share.bytes += bytes;
    share.count += 1;
    this.#bytes += bytes;
    this.#options.onChange(bytes);
  }

  #leaving(tenant: string, share: Share, bytes: number): () => void {
    return () => {
      share.bytes -= bytes;
      share.count -= 1;
      this.#bytes -= bytes;
      this.#options.onChange(-bytes);
      this.#forget(tenant, share);
      this.#admit();
    };
  }

  #forget(tenant: string, share: Share): void {
    if (share.count === 0 && share.waiting.size === 0) this.#shares.delete(tenant);
  }

  /** Admits what fits now, tenants in turn. */
  #admit(): void {
    this.#full = false;
    // An admitted tenant moves behind the others, where this loop finds it again.
    for (const [tenant, share] of this.#turns) {
      const [waiter] = share.waiting;
      if (waiter === undefined) {
        this.#turns.delete(tenant);
        continue;
      }
      if (!this.#fits(share, waiter.bytes)) continue;
      if (this.#bytes + waiter.bytes > this.#options.bytesMax) {
        this.#full = true;
        return;
      }
      this.#endWaiting(share, waiter);
      this.#reserve(share, waiter.bytes);
      waiter.admit();
      this.#turns.delete(tenant);
      if (share.waiting.size > 0) this.#turns.set(tenant, share);
    }
  }

  #endWaiting(share: Share, waiter: Waiter): void {
    share.waiting.delete(waiter);
    this.#waiting -= 1;
    if (share.waiting.size > 0) return;
    share.timer?.cancel();
    share.timer = undefined;
  }

  /** One timer for all waiting calls of a tenant: they are in the order of their deadlines. */
  #schedule(tenant: string, share: Share, clock: Clock): void {
    const [first] = share.waiting;
    if (first === undefined || share.timer !== undefined) return;
    share.timer = clock.setTimer(
      () => this.#refuseLate(tenant, share, clock),
      Math.max(0, first.untilMs - clock.monotonicMs()),
    );
  }

  #refuseLate(tenant: string, share: Share, clock: Clock): void {
    share.timer = undefined;
    const nowMs = clock.monotonicMs();
    let refused = 0;
    for (const waiter of share.waiting) {
      if (waiter.untilMs > nowMs || refused === REFUSALS_PER_STEP) break;
      refused += 1;
      this.#endWaiting(share, waiter);
      waiter.refuse(this.#overloaded(tenant, share));
    }
    if (share.waiting.size === 0) this.#turns.delete(tenant);
    else this.#schedule(tenant, share, clock);
    // The next one may need less.
    this.#admit();
  }

  #overloaded(tenant: string, share: Share): GrantdError {
    this.#refused += 1;
    this.#forget(tenant, share);
    return new GrantdError(
      'overloaded',
      'The requests of this tenant need more memory than is available at once. Nothing was changed.',
    );
  }
}
