// One simulated process: its clocks, its randomness, and whether it runs. Everything that reaches it (timers, messages,
// answers of the store) passes `deliver`. It keeps: a killed process never runs again; a paused one runs nothing until
// it is resumed, and then all that came meanwhile, each in its turn and before anything newer; where its machine is
// suspended, its monotonic clock and its timers stand still as well, and its wall clock runs on.

import type { Clock, Timer } from '../../src/core/async/clock.ts';
import type { ScheduledEvent, Scheduler } from './scheduler.ts';
import type { SeededRandom } from './seeded-random.ts';

/** The wall clock of the world at the beginning: 2026-11-21. */
export const WALL_START_MS = 1_795_219_200_000;
/** What wakes up a process takes this long for each of the things that wait for it. */
const BACKLOG_STEP_MS = 0.002;

/** A timer that is due within this of its clock is due: what is left is the rounding of a division. */
const DUE_MS = 0.001;

/** How far the rate of a monotonic clock is from that of the world, at most. */
export const RATES_APART = 0.003;

export interface ProcessClocks {
  readonly slowClock?: boolean;
  readonly wallSkewMs?: number;
  readonly ratesApart?: number;
}

interface Waiting {
  readonly timer: boolean;
  readonly run: () => void;
}

interface RunningTimer {
  /** On the monotonic clock. */
  readonly dueMs: number;
  readonly run: () => void;
  event: ScheduledEvent | undefined;
  cancelled: boolean;
}

export class SimulatedProcess {
  readonly name: string;
  readonly random: SeededRandom;
  readonly clock: Clock;
  readonly #scheduler: Scheduler;
  readonly #monotonicStartMs: number;
  readonly #rate: number;
  readonly #startedAtMs: number;
  #wallJumpMs: number;
  #lastImmediateAtMs = 0;
  #state: 'running' | 'paused' | 'dead' = 'running';
  /** Since when the machine has been suspended, in the time of the world. */
  #suspendedAtMs: number | undefined;
  /** How long it was, all in all. */
  #suspendedMs = 0;
  /** Came due in the time of the world while the machine was suspended: for its clock they are not. */
  #standing: RunningTimer[] = [];
  #backlog: Waiting[] = [];
  #onKilled: (() => void)[] = [];

  constructor(
    name: string,
    scheduler: Scheduler,
    random: SeededRandom,
    { slowClock = false, wallSkewMs = 200, ratesApart = RATES_APART }: ProcessClocks = {},
  ) {
    this.name = name;
    this.#scheduler = scheduler;
    this.random = random;
    this.#startedAtMs = scheduler.nowMs;
    this.#monotonicStartMs = random.between(1000, 10_000_000);
    this.#rate = slowClock ? random.between(0.25, 0.4) : random.between(1 - ratesApart, 1 + ratesApart);
    this.#wallJumpMs = random.between(-wallSkewMs, wallSkewMs);
    const idleShare = random.fork('idle').between(0, 1);
    this.clock = {
      monotonicMs: () => this.#monotonicMs(),
      // Where the one clock is wrong the other is, too: else the difference would give it away.
      wallMs: () => Math.floor(WALL_START_MS + this.#startedAtMs + this.#elapsedMs(slowClock) + this.#wallJumpMs),
      // Some processes are busier than others.
      idleMs: () => this.#monotonicMs() * idleShare,
      setTimer: (run, delayMs) => this.#setTimer(run, delayMs),
      setImmediate: (run) => this.#setImmediate(run),
    };
  }

  get alive(): boolean {
    return this.#state !== 'dead';
  }

  get paused(): boolean {
    return this.#state === 'paused';
  }

  /** Something reaches the process now. */
  deliver(run: () => void, timer = false): void {
    if (this.#state === 'dead') return;
    if (this.#state === 'paused' || this.#backlog.length > 0) this.#backlog.push({ timer, run });
    else run();
  }

  /** As SIGKILL. */
  kill(): void {
    if (this.#state === 'dead') return;
    this.#state = 'dead';
    this.#backlog = [];
    for (const run of this.#onKilled) run();
  }

  onKilled(run: () => void): void {
    this.#onKilled.push(run);
  }

  /** As SIGSTOP. */
  pause(): void {
    if (this.#state !== 'running') return;
    this.#state = 'paused';
  }

  /** As a machine that is suspended, with all that runs on it. `resume` wakes it. */
  suspend(): void {
    if (this.#state !== 'running') return;
    this.pause();
    this.#suspendedAtMs = this.#scheduler.nowMs;
  }

  /**
   * As SIGCONT. Timers that are due come before what arrived, as in Node's event loop, or in the order of their times.
   */
  resume(): void {
    if (this.#state !== 'paused') return;
    this.#state = 'running';
    if (this.#suspendedAtMs !== undefined) {
      this.#suspendedMs += this.#scheduler.nowMs - this.#suspendedAtMs;
      this.#suspendedAtMs = undefined;
      for (const timer of this.#standing.splice(0)) this.#arm(timer);
    }
    if (this.random.chance(0.7)) {
      this.#backlog = [...this.#backlog.filter(({ timer }) => timer), ...this.#backlog.filter(({ timer }) => !timer)];
    }
    this.#drain();
  }

  jumpWall(byMs: number): void {
    this.#wallJumpMs += byMs;
  }

  #drain(): void {
    if (this.#backlog.length === 0) return;
    this.#scheduler.after(BACKLOG_STEP_MS, () => {
      if (this.#state !== 'running') return;
      const [next] = this.#backlog;
      if (next === undefined) return;
      try {
        next.run();
      } finally {
        // Taken out afterwards, so that what it brings about comes behind what waits.
        this.#backlog.shift();
        this.#drain();
      }
    });
  }

  #monotonicMs(): number {
    const standsSinceMs = this.#suspendedAtMs ?? this.#scheduler.nowMs;
    return this.#monotonicStartMs + (standsSinceMs - this.#suspendedMs - this.#startedAtMs) * this.#rate;
  }

  #elapsedMs(atItsRate: boolean): number {
    return (this.#scheduler.nowMs - this.#startedAtMs) * (atItsRate ? this.#rate : 1);
  }

  #setTimer(run: () => void, delayMs: number): Timer {
    // A timer of Node fires up to a millisecond late and never early.
    const dueMs = this.#monotonicMs() + Math.max(1, delayMs) + this.random.fraction() * this.#rate;
    const timer: RunningTimer = { dueMs, run, event: undefined, cancelled: false };
    this.#arm(timer);
    return {
      cancel() {
        timer.cancelled = true;
        if (timer.event !== undefined) timer.event.run = undefined;
      },
    };
  }

  #arm(timer: RunningTimer): void {
    if (timer.cancelled) return;
    timer.event = this.#scheduler.after((timer.dueMs - this.#monotonicMs()) / this.#rate, () => {
      if (this.#suspendedAtMs !== undefined) this.#standing.push(timer);
      else if (this.#monotonicMs() < timer.dueMs - DUE_MS) this.#arm(timer);
      else this.deliver(() => !timer.cancelled && timer.run(), true);
    });
  }

  #setImmediate(run: () => void): void {
    const { nowMs } = this.#scheduler;
    this.#lastImmediateAtMs = Math.max(this.#lastImmediateAtMs + 0.0001, nowMs + this.random.between(0.005, 0.05));
    this.#scheduler.after(this.#lastImmediateAtMs - nowMs, () => this.deliver(run));
  }
}
