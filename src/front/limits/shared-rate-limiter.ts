// Rate limits that fronts share: a window per tenant, and one per key that revokes keys, counted elsewhere and leased
// ahead. Invariants: a tenant takes memory only while one of its windows runs; a different limit begins a different
// window; the reserves of keys are bounded, and above the bound the oldest is dropped.

import type { Clock } from '../../core/async/clock.ts';
import { type Plan, REVOCATION_RESERVE } from '../../core/plans.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { type RateDecision, type RateLimiter, RESERVES_MAX_DEFAULT, secondsUntil } from './rate-limiter.ts';

export function createSharedRateLimiter(
  dependencies: { readonly counts: SharedCounts; readonly clock: Clock; readonly metrics: Metrics },
  options: { readonly reservesMax?: number } = {},
): RateLimiter {
  const { counts, clock, metrics } = dependencies;
  const { reservesMax = RESERVES_MAX_DEFAULT } = options;
  const decided = {
    memory: metrics.rateLimitDecisions.labels('memory'),
    redis: metrics.rateLimitDecisions.labels('redis'),
    share: metrics.rateLimitDecisions.labels('share'),
  };
  const forWindows: LeasedWindowDependencies = { counts, clock, onDecided: (source) => decided[source].inc() };
  const plans = new Map<string, LeasedWindow>();
  const reserves = new Map<string, LeasedWindow>();

  /** Drops a window once no request has come since its end. */
  function dropIdle(windows: Map<string, LeasedWindow>, id: string, window: LeasedWindow): void {
    if (windows.get(id) !== window) return;
    const idleAfterMs = window.idleAfterMs();
    if (idleAfterMs > 0) clock.setTimer(() => dropIdle(windows, id, window), idleAfterMs);
    else windows.delete(id);
  }

  function begin(
    windows: Map<string, LeasedWindow>,
    id: string,
    { key, requests, windowSeconds }: WindowLimit & { readonly key: string },
  ): LeasedWindow {
    const begun = new LeasedWindow(forWindows, key, { requests, windowSeconds });
    windows.set(id, begun);
    clock.setTimer(() => dropIdle(windows, id, begun), windowSeconds * 1000);
    return begun;
  }

  return {
    consume(tenantId: string, { requests, windowSeconds }: Plan) {
      if (requests === undefined) return undefined;
      let window = plans.get(tenantId);
      if (window === undefined || window.limit.requests !== requests || window.limit.windowSeconds !== windowSeconds) {
        // The first character says what is counted, the rest for whom: no two windows share a key.
        window = begin(plans, tenantId, { key: `p${tenantId}`, requests, windowSeconds });
      }
      return window.consume();
    },
    consumeRevocation(keyId: string): RateDecision | Promise<RateDecision> {
      let window = reserves.get(keyId);
      if (window === undefined) {
        window = begin(reserves, keyId, { key: `k${keyId}`, ...REVOCATION_RESERVE });
        for (const oldest of reserves.keys()) {
          if (reserves.size <= reservesMax) break;
          reserves.delete(oldest);
        }
      }
      return window.consume();
    },
  };
}

export interface WindowLimit {
  readonly requests: number;
  readonly windowSeconds: number;
}

/** The count of a window after something was taken from it. */
export interface WindowCount {
  /** Taken by all fronts together; above the limit if they requested more. */
  readonly consumed: number;
  /** Time until the end of that window, when it was counted; rounded up. */
  readonly leftMs: number;
}

export interface SharedCounts {
  /** Whether a call is worth the wait. */
  readonly reachable: boolean;
  /** Fronts that share the counts, at least 1: the last number known. */
  readonly fronts: number;
  /** Counts `points` in the running window of `key` or in the next one. If that fails, rejects within a bound. */
  take(key: string, limit: WindowLimit, points: number, which: 'running' | 'next'): Promise<WindowCount>;
}

// ---- one window ----
//
// The running window of one tenant, as one front takes part in it. The count of the window is shared (in Redis). The
// front takes blocks of requests from it ahead of need, for this window and, in its second half, for the next one.
//
//   running window                                  next window
//   ├───────────────────────┬───────────────────┬·······┬──────────────────────────────────▶ time
//   starts                  half       endsFromMs       endsByMs
//   │  paid with `prepaid`  │  and a block of   │ paid  │  what was prepaid for it becomes
//   │  of this window       │  the next one     │ twice │  its `prepaid`
//   │                       │  is taken ahead   │       │
//
//   limit of a window:  │ spent here │ prepaid │ available: taken by no front yet │ taken by other fronts │
//
// Invariant: each request is paid for in the window in which it is let through, so all fronts together let through no
// more than the limit. A reply gives the time left, which bounds the end of the window: not before that time counted
// from the sending (`endsFromMs`), not after that time counted from the reply (`endsByMs`). Between the two, a request
// is paid for in both windows. While the count is unavailable, the front uses its share: limit ÷ fronts, less what it
// has let through in this window.

/** How a request was decided: at once, after a reply, or without one. */
export type DecisionSource = 'memory' | 'redis' | 'share';

export interface LeasedWindowDependencies {
  readonly counts: SharedCounts;
  readonly clock: Clock;
  readonly onDecided: (source: DecisionSource) => void;
}

/** Plans up to this rate are counted request by request: a block would be a large part of their limit. */
const EXACT_PER_SECOND_MAX = 10;
/** How long such a request waits for the count. */
const EXACT_MS_MAX = 20;
/** All fronts together use this many blocks per window while the count replies fast. */
const BLOCKS_PER_WINDOW = 100;
const BLOCK_MAX = 1000;
/** Requests that wait for one block. Each holds a connection of a client; further ones are decided by the share. */
const WAITING_MAX = 10_000;
/** For this long after a failure, the share decides at once, so that requests do not wait one by one. */
const ALONE_MS = 1000;

/**
 * The fraction of the reserve that remains if the last block needed less. It shrinks slowly, so a lull costs nothing.
 */
const RESERVE_KEPT = 0.75;
/** Blocks in hand: one is used up while the next is in flight. */
const BLOCKS_IN_HAND = 2;

/** Tokens of one window, as far as this front knows. */
interface Tokens {
  /** Taken from the count but not spent. */
  prepaid: number;
  /** What the count had left at its last reply; 0: the limit is used up. */
  available: number;
  /** Let through by this front. */
  spent: number;
}

interface TokenWindow extends Tokens {
  /** The window ends between these two times, on the monotonic clock. */
  endsFromMs: number;
  endsByMs: number;
}

export class LeasedWindow {
  readonly limit: WindowLimit;
  readonly #key: string;
  readonly #counts: SharedCounts;
  readonly #clock: Clock;
  readonly #onDecided: (source: DecisionSource) => void;
  readonly #exact: boolean;
  readonly #lengthMs: number;
  #window: TokenWindow | undefined;
  #next: Tokens | undefined;
  #waiting: ((decision: RateDecision) => void)[] = [];
  #taking = false;
  #takingNext = false;
  /** Requests since the block in flight was requested. */
  #flightRequests = 0;
  /** Tokens kept in hand: twice what was recently spent while a block was in flight. */
  #reserve = 0;
  #aloneUntilMs = 0;

  constructor(dependencies: LeasedWindowDependencies, key: string, limit: WindowLimit) {
    this.#counts = dependencies.counts;
    this.#clock = dependencies.clock;
    this.#onDecided = dependencies.onDecided;
    this.#key = key;
    this.limit = limit;
    this.#exact = limit.requests <= EXACT_PER_SECOND_MAX * limit.windowSeconds;
    this.#lengthMs = limit.windowSeconds * 1000;
  }

  /** Takes one request; synchronous if memory can decide it. */
  consume(): RateDecision | Promise<RateDecision> {
    const nowMs = this.#clock.monotonicMs();
    this.#roll(nowMs);
    if (!this.#counts.reachable || nowMs < this.#aloneUntilMs) return this.#useShare(nowMs);
    const window = this.#window;
    if (window !== undefined) {
      if (!this.#exact) {
        if (nowMs >= window.endsByMs - this.#lengthMs / 2) this.#takeNext(nowMs);
        if (this.#pay(window, nowMs)) return this.#decide('memory', window, true, nowMs);
      }
      const full = window.prepaid === 0 && window.available === 0;
      // If the next window is prepaid, a request is refused now instead of waiting: that window begins in a moment.
      const runs = nowMs < window.endsFromMs || this.#next !== undefined;
      if (full && runs) return this.#decide('memory', window, false, nowMs);
    }
    return this.#exact ? this.#askForOne(nowMs) : this.#wait(nowMs);
  }

  /** How long the window is still needed if no request comes; 0: it holds nothing. */
  idleAfterMs(): number {
    const nowMs = this.#clock.monotonicMs();
    this.#roll(nowMs);
    if (this.#taking || this.#takingNext) return this.#lengthMs;
    return this.#window === undefined ? 0 : this.#window.endsByMs - nowMs;
  }

  /** Moves on to the window that runs now, if one is known. */
  #roll(nowMs: number): void {
    while (this.#window !== undefined && nowMs >= this.#window.endsByMs) {
      const { endsFromMs, endsByMs } = this.#window;
      this.#window =
        this.#next === undefined
          ? undefined
          : { ...this.#next, endsFromMs: endsFromMs + this.#lengthMs, endsByMs: endsByMs + this.#lengthMs };
      this.#next = undefined;
    }
  }

  #decide(source: DecisionSource, window: TokenWindow, allowed: boolean, nowMs: number): RateDecision {
    this.#onDecided(source);
    const { requests, windowSeconds } = this.limit;
    const remaining = !allowed ? 0 : source === 'share' ? this.#shareOf(window) : window.prepaid + window.available;
    const resetSeconds = secondsUntil(window.endsByMs, nowMs, windowSeconds);
    return { allowed, limit: requests, remaining, resetSeconds };
  }

  /** Pays with what was taken ahead, and takes more before it runs out. */
  #pay(window: TokenWindow, nowMs: number): boolean {
    this.#flightRequests += 1;
    if (window.prepaid === 0) return false;
    if (nowMs >= window.endsFromMs) {
      // The next window may have begun already.
      if (this.#next === undefined || this.#next.prepaid === 0) return false;
      this.#next.prepaid -= 1;
      this.#next.spent += 1;
    } else if (window.prepaid - 1 <= this.#reserve && window.available > 0) {
      this.#take(nowMs);
    }
    window.prepaid -= 1;
    window.spent += 1;
    return true;
  }

  #wait(nowMs: number): RateDecision | Promise<RateDecision> {
    if (this.#waiting.length >= WAITING_MAX) return this.#useShare(nowMs);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#take(nowMs);
    });
  }

  /** A block is what is spent while one is in flight, but no more than this front's part of what is available. */
  #blockOf(available: number): number {
    const { fronts } = this.#counts;
    const { requests } = this.limit;
    const common = Math.min(BLOCK_MAX, Math.floor(requests / (BLOCKS_PER_WINDOW * fronts)));
    const wanted = Math.max(common, BLOCKS_IN_HAND * this.#reserve, this.#waiting.length);
    return Math.max(1, Math.min(wanted, Math.floor(available / fronts)));
  }

  #take(nowMs: number): void {
    if (this.#taking) return;
    this.#taking = true;
    this.#flightRequests = this.#waiting.length;
    const points = this.#blockOf(this.#window?.available ?? this.limit.requests);
    this.#counts.take(this.#key, this.limit, points, 'running').then(
      (count) => this.#taken(count, points, nowMs),
      () => this.#fail(),
    );
  }

  #taken(count: WindowCount, points: number, sentMs: number): void {
    this.#taking = false;
    const nowMs = this.#clock.monotonicMs();
    this.#reserve = Math.max(Math.floor(this.#reserve * RESERVE_KEPT), BLOCKS_IN_HAND * this.#flightRequests);
    let granted = this.#grantedOf(count, points);
    const window = this.#adopt(count, sentMs, nowMs);
    const served = this.#waiting.splice(0, granted);
    granted -= served.length;
    window.prepaid += granted;
    window.spent += served.length;
    for (const resolve of served) resolve(this.#decide('redis', window, true, nowMs));
    if (this.#waiting.length === 0) return;
    if (window.available > 0) {
      this.#take(nowMs);
      return;
    }
    for (const resolve of this.#waiting.splice(0)) resolve(this.#decide('redis', window, false, nowMs));
  }

  #fail(): void {
    this.#taking = false;
    const nowMs = this.#clock.monotonicMs();
    this.#aloneUntilMs = nowMs + ALONE_MS;
    for (const resolve of this.#waiting.splice(0)) resolve(this.#useShare(nowMs));
  }

  /** How many of the points just taken are within the limit. */
  #grantedOf({ consumed }: WindowCount, points: number): number {
    return Math.min(points, Math.max(0, this.limit.requests - (consumed - points)));
  }

  /** Records what a reply says about the running window. */
  #adopt({ consumed, leftMs }: WindowCount, sentMs: number, nowMs: number): TokenWindow {
    this.#roll(nowMs);
    const available = Math.max(0, this.limit.requests - consumed);
    const [endsFromMs, endsByMs] = [sentMs + leftMs - 1, nowMs + leftMs];
    const known = this.#window;
    if (known !== undefined && this.#isSameWindow(known, endsByMs)) {
      this.#tighten(known, endsFromMs, endsByMs);
      known.available = available;
      return known;
    }
    // The known window has ended. What was taken ahead belongs to this one if it follows directly.
    const ahead = known !== undefined && this.#isNextWindow(known, endsByMs) ? this.#next : undefined;
    this.#next = undefined;
    this.#window = { prepaid: ahead?.prepaid ?? 0, spent: ahead?.spent ?? 0, available, endsFromMs, endsByMs };
    return this.#window;
  }

  /** Each reply bounds the end of the window; together they bound it more tightly. */
  #tighten(window: TokenWindow, endsFromMs: number, endsByMs: number): void {
    const [fromMs, byMs] = [Math.max(window.endsFromMs, endsFromMs), Math.min(window.endsByMs, endsByMs)];
    // The bounds contradict each other if a clock was set or another server replies: the latest reply counts.
    [window.endsFromMs, window.endsByMs] = fromMs <= byMs ? [fromMs, byMs] : [endsFromMs, endsByMs];
  }

  #takeNext(sentMs: number): void {
    if (this.#takingNext || this.#next !== undefined) return;
    this.#takingNext = true;
    const points = this.#blockOf(this.limit.requests);
    this.#counts.take(this.#key, this.limit, points, 'next').then(
      (count) => {
        this.#takingNext = false;
        this.#takenNext(count, points, sentMs);
      },
      () => {
        this.#takingNext = false;
      },
    );
  }

  #takenNext(count: WindowCount, points: number, sentMs: number): void {
    const nowMs = this.#clock.monotonicMs();
    this.#roll(nowMs);
    const window = this.#window;
    if (window === undefined) return;
    const prepaid = this.#grantedOf(count, points);
    const available = Math.max(0, this.limit.requests - count.consumed);
    const [endsFromMs, endsByMs] = [sentMs + count.leftMs - 1, nowMs + count.leftMs];
    if (this.#isNextWindow(window, endsByMs)) {
      this.#tighten(window, endsFromMs - this.#lengthMs, endsByMs - this.#lengthMs);
      this.#next = { prepaid, available, spent: 0 };
    } else if (this.#isSameWindow(window, endsByMs)) {
      // That window has begun by now.
      window.prepaid += prepaid;
    }
  }

  /** Whether a window that ends then is this one: replies give its end to well within half its length. */
  #isSameWindow(window: TokenWindow, endsByMs: number): boolean {
    return Math.abs(endsByMs - window.endsByMs) < this.#lengthMs / 2;
  }

  /** Whether a window that ends then follows directly. */
  #isNextWindow(window: TokenWindow, endsByMs: number): boolean {
    return this.#isSameWindow(window, endsByMs - this.#lengthMs);
  }

  /** For a plan of few requests: one by one, so that the limit is exact while the count replies in time. */
  #askForOne(sentMs: number): Promise<RateDecision> {
    return new Promise((resolve) => {
      let decided = false;
      const decideOnce = (decision: () => RateDecision): void => {
        if (decided) return;
        decided = true;
        timer.cancel();
        resolve(decision());
      };
      const byShare = () => this.#useShare(this.#clock.monotonicMs());
      // A reply that arrived while this process was busy still counts.
      const late = () => this.#clock.setImmediate(() => decideOnce(byShare));
      const timer = this.#clock.setTimer(late, EXACT_MS_MAX);
      this.#counts.take(this.#key, this.limit, 1, 'running').then(
        (count) => {
          const nowMs = this.#clock.monotonicMs();
          // A late reply still says how much is left.
          const window = this.#adopt(count, sentMs, nowMs);
          decideOnce(() => {
            const allowed = this.#grantedOf(count, 1) === 1;
            if (allowed) window.spent += 1;
            return this.#decide('redis', window, allowed, nowMs);
          });
        },
        () => {
          this.#aloneUntilMs = this.#clock.monotonicMs() + ALONE_MS;
          decideOnce(byShare);
        },
      );
    });
  }

  #shareOf({ spent, available }: Tokens): number {
    // A limit smaller than the number of fronts still lets something through.
    const share = Math.max(1, Math.floor(this.limit.requests / this.#counts.fronts));
    return Math.max(0, Math.min(available, share - spent));
  }

  #useShare(nowMs: number): RateDecision {
    this.#roll(nowMs);
    const endsMs = nowMs + this.#lengthMs;
    this.#window ??= { prepaid: 0, available: this.limit.requests, spent: 0, endsFromMs: endsMs, endsByMs: endsMs };
    const window = this.#window;
    const allowed = window.prepaid > 0 || this.#shareOf(window) > 0;
    if (allowed) {
      if (window.prepaid > 0) window.prepaid -= 1;
      else window.available -= 1;
      window.spent += 1;
    }
    return this.#decide('share', window, allowed, nowMs);
  }
}
