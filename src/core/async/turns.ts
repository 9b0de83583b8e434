// Fair turns on the event loop: whose work goes on next where more is asked than there is time for. Deficit round-robin
// by measured time, with priority for sparse flows (the scheduler of RFC 8290, without its queue management). Every key
// has a queue, which is served until its quantum is used up; a key that had nothing to do goes before those that always
// have work. It keeps: what one key costs delays another by one round of quanta at most, however much the first has
// waiting; the work of one key begins in the order in which it came; where nobody waits, work runs at once.

import type { Clock } from './clock.ts';

/** Runs once; true: there is more to do, for which it is called again when its key's turn comes. Must not throw. */
export type Step = () => boolean;

export interface Turns {
  /**
   * Whether work may begin at once, without `run`: nobody waits, and this turn of the event loop has time left. `nowMs`
   * is the monotonic time, which the caller has read anyway; `laterMs` what the work takes after it, which is counted
   * now.
   */
  idle(nowMs: number, laterMs?: number): boolean;
  /** Whether this turn of the event loop has time left: what costs next to nothing may be done now, whoever waits. */
  hasTime(nowMs: number): boolean;
  /**
   * Runs `step` when the turn of `key` comes, in the order of the calls for one key: at once where nothing of the key
   * waits and the turn has time left, or nothing of it has been run in this turn. `costMs`: what the step counts for
   * where it is measured as less, since what it begins goes on after it.
   */
  run(key: string, step: Step, costMs?: number): void;
  /** Runs `send` later, once: when this turn's work is done, at the latest, before sockets are looked at again. */
  atEnd(send: () => void): void;
  /** Steps that wait. */
  readonly waiting: number;
}

/** Resolves in a turn of `key`. What then goes on, until its next await, cannot be measured: it counts as `costMs`. */
export function turnOf(turns: Turns, key: string, costMs: number): Promise<void> {
  return new Promise((resolve) => {
    const step = (): boolean => {
      resolve();
      return false;
    };
    turns.run(key, step, costMs);
  });
}

/** For which work is done in one turn of the event loop: in between, sockets and timers are served. */
const TURN_MS = 3;
/** What a queue is served for before the next one's turn. Far above a check, below a large bulk. */
const QUANTUM_MS = 0.5;
/** What a step counts for at least: clocks have a grain, and steps without cost would never end a turn. */
const STEP_MS_MIN = 0.001;
/** Steps that have ended are let go of in bulk. */
const ENDED_STEPS_MAX = 256;

interface Work {
  readonly step: Step;
  readonly costMs: number;
}

interface Flow {
  readonly key: string;
  readonly work: Work[];
  /** Of the first that has not ended. */
  head: number;
  /** Time it may still take before the next one's turn; below zero where its last step took more. */
  deficitMs: number;
}

const first = (flows: ReadonlyMap<string, Flow>): Flow | undefined => flows.values().next().value;

export class FairTurns implements Turns {
  readonly #clock: Clock;
  /** Flows that had nothing to do before, served first, for one quantum; in the order of their turns. */
  readonly #sparse = new Map<string, Flow>();
  /**
   * The others, in the order of their turns. One without steps is kept once around, so that it does not count as sparse
   * again.
   */
  readonly #busy = new Map<string, Flow>();
  #waiting = 0;
  /** Undefined: no work was begun in this turn of the event loop. */
  #turnStartedMs: number | undefined;
  /**
   * Keys of which something was run in this turn although it had no time left: so many sockets had something to read.
   */
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
    if (this.#turnStartedMs !== undefined) return nowMs - this.#turnStartedMs < TURN_MS;
    this.#beginTurn(nowMs);
    return true;
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
  }

  /**
   * Thousands of sockets may have something to read, or have ended, in one turn. Each key is served once before its
   * end, and what comes of it is sent, so that it does not wait for all of them.
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

  /** Runs a step of a flow that had nothing to do before; while others wait, it counts as busy from here on. */
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

  /** What a step has begun takes time of this turn once it goes on. */
  #anticipate(laterMs: number): void {
    if (laterMs > 0 && this.#turnStartedMs !== undefined) this.#turnStartedMs -= laterMs;
  }

  #beginTurn(nowMs: number): void {
    this.#turnStartedMs = nowMs;
    this.#scheduleEnd();
  }

  #scheduleEnd(): void {
    if (this.#endScheduled) return;
    this.#endScheduled = true;
    this.#clock.setImmediate(this.#endTurn);
  }

  #serve(): void {
    let nowMs = this.#clock.monotonicMs();
    // Also where a step throws: the others go on in the next turn.
    this.#scheduleEnd();
    let spentMs = 0;
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
      }
    }
    // Where nobody waits, nobody owes anything.
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

  /** Nothing of the flow waits. */
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
