// The frame of an attack's process: it gets its target, runs until it is done or its time is over, and reports. It ends
// when its parent process says so or ends.

import { setTimeout as delay } from 'node:timers/promises';
import { type AttackTarget, type FromAttack, PREPARATION_MS_MAX } from '../attack-messages.ts';

export class AttackRun {
  readonly #outcomes: Record<string, number> = {};
  readonly #durationMs: number;
  readonly #endMs: number;
  /** Resolves when an unbounded attack must end. */
  readonly over: Promise<void>;
  #unexpected = 0;
  #firstUnexpected: string | undefined;
  #floodMs: number | undefined;

  constructor(durationMs: number) {
    this.#durationMs = durationMs;
    this.#endMs = performance.now() + durationMs;
    this.over = delay(durationMs);
  }

  get isOver(): boolean {
    return performance.now() >= this.#endMs;
  }

  /** The duration of an attack, counted from when everything is in place, which takes a while on a busy machine. */
  hold(): Promise<void> {
    return delay(this.#durationMs);
  }

  count(outcome: string | number): void {
    this.#outcomes[outcome] = (this.#outcomes[outcome] ?? 0) + 1;
  }

  /** Counts the status, which must be one of the allowed ones; `detail`: the rest of the response. */
  expect(status: number, allowed: readonly number[], detail: string): void {
    this.count(status);
    if (!allowed.includes(status)) this.reject(`${status} ${detail.slice(0, 300)}`);
  }

  reject(what: string): void {
    this.#unexpected += 1;
    this.#firstUnexpected ??= what;
  }

  /** How long the service took for all connections of a flood. */
  setFloodDuration(floodMs: number): void {
    this.#floodMs = floodMs;
  }

  report(): FromAttack {
    const [outcomes, unexpected, firstUnexpected] = [this.#outcomes, this.#unexpected, this.#firstUnexpected];
    return { kind: 'done', report: { outcomes, unexpected, firstUnexpected, floodMs: this.#floodMs } };
  }
}

const send = (message: FromAttack): void => {
  if (process.connected) process.send?.(message);
};

export function runAttack(attack: (target: AttackTarget, run: AttackRun) => Promise<void>): void {
  process.on('disconnect', () => process.exit());
  process.once('message', (target: AttackTarget) => {
    const run = new AttackRun(target.durationMs);
    Promise.race([attack(target, run), delay(target.durationMs + PREPARATION_MS_MAX)]).then(
      () => send(run.report()),
      (error: unknown) => send({ kind: 'failed', message: error instanceof Error ? error.message : String(error) }),
    );
  });
}
