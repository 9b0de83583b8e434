// One simulated process: its clocks, its randomness, and whether it runs. Everything that reaches it (timers, messages,
// answers of the store) passes `deliver`. It keeps: a killed process never runs again; a paused one runs nothing until it
// is resumed, and then all that came meanwhile, each in its turn and before anything newer.

import type { Clock, Timer } from '../../src/core/clock.ts';
import type { Scheduler } from './scheduler.ts';
import type { SeededRandom } from './seeded-random.ts';

/** The wall clock of the world at the beginning: 2026-11-21. */
export const WALL_START_MS = 1_795_219_200_000;
/** What wakes up a process takes this long for each of the things that wait for it. */
const BACKLOG_STEP_MS = 0.002;

interface Waiting {
  readonly timer: boolean;
  readonly run: () => void;
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
  #pausedAtMs = 0;
  #backlog: Waiting[] = [];
  #onKilled: (() => void)[] = [];

  constructor(
    name: string,
    scheduler: Scheduler,
    random: SeededRandom,
    { slowClock = false, wallSkewMs = 200 }: { readonly slowClock?: boolean; readonly wallSkewMs?: number } = {},
  ) {
    this.name = name;
    this.#scheduler = scheduler;
    this.random = random;
    this.#startedAtMs = scheduler.nowMs;
    this.#monotonicStartMs = random.between(1000, 10_000_000);
    this.#rate = slowClock ? random.between(0.25, 0.4) : random.between(0.997, 1.003);
    this.#wallJumpMs = random.between(-wallSkewMs, wallSkewMs);
    this.clock = {
      monotonicMs: () => this.#monotonicMs(),
      // Where the one clock is wrong the other is, too: else the difference would give it away.
      wallMs: () => Math.floor(WALL_START_MS + this.#startedAtMs + this.#elapsedMs(slowClock) + this.#wallJumpMs),
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

  /** Since when it has been paused, in the time of the world; undefined: it runs. */
  get pausedSinceMs(): number | undefined {
    return this.#state === 'paused' ? this.#pausedAtMs : undefined;
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
    this.#pausedAtMs = this.#scheduler.nowMs;
  }

  /** As SIGCONT. Timers that are due come before what arrived, as in Node's event loop, or in the order of their times. */
  resume(): void {
    if (this.#state !== 'paused') return;
    this.#state = 'running';
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
    return this.#monotonicStartMs + this.#elapsedMs(true);
  }

  #elapsedMs(atItsRate: boolean): number {
    return (this.#scheduler.nowMs - this.#startedAtMs) * (atItsRate ? this.#rate : 1);
  }

  #setTimer(run: () => void, delayMs: number): Timer {
    let cancelled = false;
    // A timer of Node fires up to a millisecond late and never early.
    const event = this.#scheduler.after(Math.max(1, delayMs) / this.#rate + this.random.fraction(), () =>
      this.deliver(() => {
        if (!cancelled) run();
      }, true),
    );
    return {
      cancel() {
        cancelled = true;
        event.run = undefined;
      },
    };
  }

  #setImmediate(run: () => void): void {
    const { nowMs } = this.#scheduler;
    this.#lastImmediateAtMs = Math.max(this.#lastImmediateAtMs + 0.0001, nowMs + this.random.between(0.005, 0.05));
    this.#scheduler.after(this.#lastImmediateAtMs - nowMs, () => this.deliver(run));
  }
}
