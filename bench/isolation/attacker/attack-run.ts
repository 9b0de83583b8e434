// The frame of an attack's own process: it is told its target, runs until its time is over, and reports. It ends when
// the process that started it does.

import type { AttackTarget, FromAttack } from '../attack-messages.ts';

export class AttackRun {
  readonly #outcomes: Record<string, number> = {};
  readonly #endMs: number;
  readonly over: Promise<void>;
  #unexpected = 0;
  #firstUnexpected: string | undefined;

  constructor(durationMs: number) {
    this.#endMs = performance.now() + durationMs;
    this.over = new Promise((resolve) => setTimeout(resolve, durationMs));
  }

  get isOver(): boolean {
    return performance.now() >= this.#endMs;
  }

  count(outcome: string | number): void {
    this.#outcomes[outcome] = (this.#outcomes[outcome] ?? 0) + 1;
  }

  /** Counts the status, which has to be one of those; `detail`: the rest of the response. */
  expect(status: number, allowed: readonly number[], detail: string): void {
    this.count(status);
    if (!allowed.includes(status)) this.reject(`${status} ${detail.slice(0, 300)}`);
  }

  reject(what: string): void {
    this.#unexpected += 1;
    this.#firstUnexpected ??= what;
  }

  report(): FromAttack {
    const [outcomes, unexpected, firstUnexpected] = [this.#outcomes, this.#unexpected, this.#firstUnexpected];
    return { kind: 'done', report: { outcomes, unexpected, firstUnexpected } };
  }
}

const send = (message: FromAttack): void => {
  if (process.connected) process.send?.(message, () => process.exit());
  else process.exit();
};

/** The attack may end early; it is cut off when its time is over. */
export function runAttack(attack: (target: AttackTarget, run: AttackRun) => Promise<void>): void {
  process.on('disconnect', () => process.exit());
  process.once('message', (target: AttackTarget) => {
    const run = new AttackRun(target.durationMs);
    Promise.race([attack(target, run), run.over]).then(
      () => send(run.report()),
      (error: unknown) => send({ kind: 'failed', message: error instanceof Error ? error.message : String(error) }),
    );
  });
}
