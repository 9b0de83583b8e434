// The gate before what takes memory for a while: reads of the store, and calls that hold many tuples. It keeps: what is
// let in at once stays within a bound in bytes for each tenant and for the process, reserved before and given back
// after, and within a number for each tenant. What comes beyond waits: those of one tenant in their order, tenants in
// turns. Who waits for too long, or behind too many of the same tenant, is refused as `overloaded`; nobody is because
// of what another tenant asks. Whoever is in never waits at the same gate again, so nobody waits for himself.

import type { Clock, Timer } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';

/** Those of one tenant that wait, at most. Each is a call that its peer's own bound counts already. */
const WAITING_MAX = 10_000;
/** Less than half of a request's deadline, so that a read of the store still fits behind it. */
const WAIT_MS_MAX = 4000;
/** Those told in one step that they have waited too long. */
const REFUSALS_PER_STEP = 250;
/** However small the budget, so many of a tenant are let in at once: nothing is reckoned larger. */
const AT_ONCE_MIN = 4;

export interface LoadGateOptions {
  /** Of the process. */
  readonly bytesMax: number;
  readonly tenantBytesMax: number;
  /** Of one tenant at once, however little memory each takes. */
  readonly tenantCountMax: number;
  /** Told of every change of what is reserved. */
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
  /** Tenants with somebody that waits; the first has the next turn. */
  readonly #turns = new Map<string, Share>();
  /** Somebody waits for capacity of the process: nobody is let in before. */
  #full = false;
  #bytes = 0;
  #waiting = 0;
  #refused = 0;

  constructor(options: LoadGateOptions) {
    this.#options = options;
  }

  /** Reserved now. */
  get bytes(): number {
    return this.#bytes;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Since the beginning. */
  get refused(): number {
    return this.#refused;
  }

  /** Runs `work` with so many bytes reserved for it. Rejects as `overloaded` before it has begun, or as `work` does. */
  async run<Result>(tenant: string, bytes: number, clock: Clock, work: () => Promise<Result>): Promise<Result> {
    const leave = await this.enter(tenant, bytes, clock);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Resolves when there is capacity, with what gives it back. Rejects as `overloaded`. */
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

  /**
   * What nobody waits for, and what spares those who wait: let in where there is capacity in bytes at once, past them.
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
    return Math.min(bytes, this.#options.tenantBytesMax / AT_ONCE_MIN);
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

  /** Lets in whoever fits now, tenants in turns. */
  #admit(): void {
    this.#full = false;
    // One that was let in is put behind the others, where this walk finds it again.
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

  /** One timer for all who wait of a tenant: they have come in the order of their deadlines. */
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
    // The next may need less.
    this.#admit();
  }

  #overloaded(tenant: string, share: Share): GrantdError {
    this.#refused += 1;
    this.#forget(tenant, share);
    return new GrantdError(
      'overloaded',
      'More of this tenant has to be read than memory allows at once. Nothing was changed.',
    );
  }
}
