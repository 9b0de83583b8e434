// Fair turns on the event loop while it is saturated. Deficit round-robin by measured time, with priority for sparse
// flows (the scheduler of RFC 8290, without its queue management). Each key has a queue, which is served until its
// quantum is used up; a key that was idle goes before keys that always have work. Invariant: one key delays another by
// at most one round of quanta, however much work it has; the work of a key starts in the order of arrival; if nothing
// waits, work runs immediately.

import type { Clock } from './clock.ts';

/** Runs one step. True: there is more to do, and it is called again in the next turn of its key. Must not throw. */
export type Step = () => boolean;

export interface Turns {
  /**
   * Whether work may start immediately, without `run`: nothing waits, and this turn of the event loop has time left.
   * `nowMs`: the monotonic time, which the caller has read anyway. `laterMs`: what the work costs later, which is
   * counted now.
   */
  idle(nowMs: number, laterMs?: number): boolean;
  /** Whether this turn of the event loop has time left: work that costs almost nothing may then run, whatever waits. */
  hasTime(nowMs: number): boolean;
  /**
   * Runs `step` when the turn of `key` comes, in call order for each key. It runs immediately if nothing of the key
   * waits and either the turn has time left or nothing of the key has run in this turn. `costMs`: the minimum cost of
   * the step, since what it starts continues after it.
   */
  run(key: string, step: Step, costMs?: number): void;
  /** Runs `send` later, once: at the end of this turn's work, at the latest before sockets are polled again. */
  atEnd(send: () => void): void;
  readonly waiting: number;
  /** Times of the steps that had to wait. */
  readonly crowding: Crowding;
}

/** Resolves in a turn of `key`. What follows, up to its next await, cannot be measured: it counts as `costMs`. */
export function turnOf(turns: Turns, key: string, costMs: number): Promise<void> {
  return new Promise((resolve) => {
    const step = (): boolean => {
      resolve();
      return false;
    };
    turns.run(key, step, costMs);
  });
}

/** Work done in one turn of the event loop; sockets and timers are served in between. */
const TURN_MS = 3;
/** How long a queue is served before the next one's turn. Far above a check, below a large bulk call. */
const QUANTUM_MS = 0.5;
/** Minimum cost of a step: clocks have a resolution, and steps without cost would never end a turn. */
const STEP_MS_MIN = 0.001;
/** Finished steps are dropped in bulk. */
const ENDED_STEPS_MAX = 256;

interface Work {
  readonly step: Step;
  readonly costMs: number;
}

interface Flow {
  readonly key: string;
  readonly work: Work[];
  /** Index of the first unfinished step. */
  head: number;
  /** Time left before the next flow's turn; negative if its last step took longer. */
  deficitMs: number;
}

const first = (flows: ReadonlyMap<string, Flow>): Flow | undefined => flows.values().next().value;

export class FairTurns implements Turns {
  readonly crowding = new Crowding();
  readonly #clock: Clock;
  /** Flows that were idle before. Served first, for one quantum, in the order of their turns. */
  readonly #sparse = new Map<string, Flow>();
  /**
   * The other flows, in the order of their turns. An empty flow stays for one round, so that it does not count as
   * sparse again.
   */
  readonly #busy = new Map<string, Flow>();
  #waiting = 0;
  /** Undefined: no work has started in this turn of the event loop. */
  #turnStartedMs: number | undefined;
  /** How long the event loop had rested when the turn started. */
  #restedMs = 0;
  /** Keys that were served in this turn although no time was left, because many sockets were readable. */
  readonly #overtime = new Set<string>();
  #atEnd: (() => void)[] = [];
  #sendsSoon = false;
  #endScheduled = false;
  readonly #endTurn = (): void => {
    this.#endScheduled = false;
    this.#turnStartedMs = undefined;
    if (this.#overtime.size > 0) this.#overtime.clear();
    if (this.#waiting > 0) this.#serve();
    this.#send();
  };
  readonly #send = (): void => {
    this.#sendsSoon = false;
    if (this.#atEnd.length === 0) return;
    const due = this.#atEnd;
    this.#atEnd = [];
    for (const send of due) send();
  };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get waiting(): number {
    return this.#waiting;
  }

  idle(nowMs: number, laterMs = 0): boolean {
    if (this.#waiting > 0 || !this.hasTime(nowMs)) return false;
    this.#anticipate(laterMs);
    return true;
  }

  hasTime(nowMs: number): boolean {
    if (this.#turnStartedMs === undefined) {
      this.#beginTurn(nowMs, this.#clock.idleMs());
      return true;
    }
    if (!this.#endScheduled) {
      // A turn with one piece of work, as most are at a moderate load, needs no end: the event loop has rested since.
      const restedMs = this.#clock.idleMs();
      if (restedMs !== this.#restedMs) {
        this.#beginTurn(nowMs, restedMs);
        return true;
      }
      this.#scheduleEnd();
    }
    return nowMs - this.#turnStartedMs < TURN_MS;
  }

  atEnd(send: () => void): void {
    this.#atEnd.push(send);
    this.#scheduleEnd();
  }

  run(key: string, step: Step, costMs = 0): void {
    const nowMs = this.#clock.monotonicMs();
    let flow = this.#sparse.get(key) ?? this.#busy.get(key);
    if (flow === undefined) {
      flow = { key, work: [], head: 0, deficitMs: QUANTUM_MS };
      if (this.hasTime(nowMs) || this.#mayTakeOvertime(key)) {
        if (!this.#runFirst(flow, step, costMs, nowMs)) return;
      } else {
        this.#sparse.set(key, flow);
      }
    }
    flow.work.push({ step, costMs });
    this.#waiting += 1;
    this.#scheduleEnd();
  }

  /**
   * Thousands of sockets may be readable, or may have closed, in one turn. Each key is served once before the end of
   * the turn, and its output is sent right away, so that it does not wait for all of them.
   */
  #mayTakeOvertime(key: string): boolean {
    if (this.#overtime.has(key)) return false;
    this.#overtime.add(key);
    if (!this.#sendsSoon) {
      this.#sendsSoon = true;
      queueMicrotask(this.#send);
    }
    return true;
  }

  /** Runs a step of a flow that was idle before. While others wait, the flow counts as busy from here on. */
  #runFirst(flow: Flow, step: Step, costMs: number, nowMs: number): boolean {
    const more = step();
    const tookMs = this.#clock.monotonicMs() - nowMs;
    this.#anticipate(costMs - tookMs);
    if (more || this.#waiting > 0) {
      flow.deficitMs -= Math.max(tookMs, costMs, STEP_MS_MIN);
      this.#busy.set(flow.key, flow);
    }
    return more;
  }

  /** Counts towards this turn the time that a step's follow-up work will take. */
  #anticipate(laterMs: number): void {
    if (laterMs > 0 && this.#turnStartedMs !== undefined) this.#turnStartedMs -= laterMs;
  }

  #beginTurn(nowMs: number, restedMs: number): void {
    this.#turnStartedMs = nowMs;
    this.#restedMs = restedMs;
  }

  #scheduleEnd(): void {
    if (this.#endScheduled) return;
    this.#endScheduled = true;
    this.#clock.setImmediate(this.#endTurn);
  }

  #serve(): void {
    let nowMs = this.#clock.monotonicMs();
    // Scheduled first, so that the other flows continue in the next turn even if a step throws.
    this.#scheduleEnd();
    let spentMs = 0;
    // The time is added up for each flow in a row, so that a step costs nothing more.
    let served: Flow | undefined;
    let servedMs = 0;
    while (this.#waiting > 0 && spentMs < TURN_MS) {
      const flow = first(this.#sparse) ?? first(this.#busy);
      if (flow === undefined) return;
      const work = flow.work[flow.head];
      if (work === undefined) {
        this.#retire(flow);
      } else if (flow.deficitMs <= 0) {
        flow.deficitMs += QUANTUM_MS;
        this.#toBack(flow);
      } else {
        this.#runStep(flow, work.step);
        const endedMs = this.#clock.monotonicMs();
        const costMs = Math.max(endedMs - nowMs, work.costMs, STEP_MS_MIN);
        nowMs = endedMs;
        flow.deficitMs -= costMs;
        spentMs += costMs;
        if (served !== flow) {
          if (served !== undefined) this.crowding.add(served.key, servedMs, nowMs);
          served = flow;
          servedMs = 0;
        }
        servedMs += costMs;
      }
    }
    if (served !== undefined) this.crowding.add(served.key, servedMs, nowMs);
    // If nothing waits, no flow owes time.
    if (this.#waiting === 0) {
      this.#sparse.clear();
      this.#busy.clear();
    }
  }

  #runStep(flow: Flow, step: Step): void {
    let more = false;
    try {
      more = step();
    } finally {
      if (!more) this.#finish(flow);
    }
  }

  #finish(flow: Flow): void {
    this.#waiting -= 1;
    flow.head += 1;
    if (flow.head < flow.work.length && flow.head < ENDED_STEPS_MAX) return;
    flow.work.splice(0, flow.head);
    flow.head = 0;
  }

  /** The flow has no waiting step. */
  #retire(flow: Flow): void {
    if (this.#sparse.has(flow.key)) this.#toBack(flow);
    else this.#busy.delete(flow.key);
  }

  #toBack(flow: Flow): void {
    this.#sparse.delete(flow.key);
    this.#busy.delete(flow.key);
    this.#busy.set(flow.key, flow);
  }
}

// ---- crowding ----
//
// For whom work had to wait: the time that the steps of each key took after they had waited for their turn, over the
// last ten seconds. Nothing waits while there is time, so a key with a large share has more work than the event loop
// does beside the others. Bounded: windows of a few seconds, each with so many keys.

/** From this share on, a key has more work than the event loop has time. */
export const CROWDED_SHARE_MIN = 0.25;

const WINDOW_MS = 2000;
/** The present one, and four before it. */
const WINDOWS = 5;
/** Keys per window. One with a large share is among the first. */
const KEYS_MAX = 1000;

interface CrowdingWindow {
  readonly startedMs: number;
  readonly spentMs: Map<string, number>;
}

export class Crowding {
  /** The present one is the last. */
  #windows: CrowdingWindow[] = [];

  /** `ms`: of steps of the key that have waited. `nowMs`: on the monotonic clock, as in `shares`. */
  add(key: string, ms: number, nowMs: number): void {
    let window = this.#windows.at(-1);
    if (window === undefined || nowMs - window.startedMs >= WINDOW_MS) {
      window = { startedMs: nowMs - (nowMs % WINDOW_MS), spentMs: new Map() };
      this.#windows = [...this.#windows.slice(1 - WINDOWS), window];
    }
    const before = window.spentMs.get(key);
    if (before === undefined && window.spentMs.size >= KEYS_MAX) return;
    window.spentMs.set(key, (before ?? 0) + ms);
  }

  /** The share of the last ten seconds, 0 to 1, that each key took after it had waited. */
  shares(nowMs: number): ReadonlyMap<string, number> {
    const spentMs = new Map<string, number>();
    for (const window of this.#windows) {
      if (nowMs - window.startedMs >= WINDOWS * WINDOW_MS) continue;
      for (const [key, ms] of window.spentMs) spentMs.set(key, (spentMs.get(key) ?? 0) + ms);
    }
    for (const [key, ms] of spentMs) spentMs.set(key, Math.min(1, ms / (WINDOWS * WINDOW_MS)));
    return spentMs;
  }
}

/** The key with the largest share; undefined: none of them had to wait. */
export function busiestOf(
  shares: ReadonlyMap<string, number>,
): { readonly key: string; readonly share: number } | undefined {
  let busiest: { readonly key: string; readonly share: number } | undefined;
  for (const [key, share] of shares) if (share > (busiest?.share ?? 0)) busiest = { key, share };
  return busiest;
}
