// What all measurements share: the load of a task on one system, and turns, so that other load on the machine affects
// all systems alike.

import type { LoadJob } from './load-job.ts';
import { type LoadProgram, NoAnswer } from './load-program.ts';
import { type Asked, describeAsked, type Task, type TaskName, taskOf } from './tasks.ts';

export interface Pace {
  readonly rounds: number;
  readonly warmUpSeconds: number;
  readonly seconds: number;
  /** For sending every question once before the measurement. */
  readonly firstSeconds: number;
  /** Load before the first round, until code is fully compiled. */
  readonly heatSeconds: number;
  /** Larger batches take seconds each: too long for short rounds. */
  readonly batchMax: number;
}

export interface MeasureContext {
  readonly load: LoadProgram;
  readonly grants: number;
  readonly pace: Pace;
  /** The number of an unused grant; the next million are unused too. */
  takeNewGrants(): number;
  progress(text: string): void;
}

/** What is measured of one system by one protocol. */
export interface Candidate {
  readonly asked: Asked;
  /** Why its measurement ended early. */
  dropped?: string;
}

/** Every other task asks some of these first questions. */
export const QUESTIONS_KEPT = 10_000;

export class Turns<C extends Candidate> {
  readonly #context: MeasureContext;
  readonly #name: TaskName;
  readonly #task: Task;
  readonly #candidates: readonly C[];

  constructor(context: MeasureContext, name: TaskName, candidates: readonly C[]) {
    this.#context = context;
    this.#name = name;
    this.#task = taskOf(name);
    this.#candidates = candidates;
  }

  /**
   * In turn, for all that are still in. One that does not answer is out, and so are the other protocols of its system.
   */
  async each(
    what: string,
    act: (candidate: C) => Promise<void>,
    isIn: (candidate: C) => boolean = () => true,
  ): Promise<void> {
    for (const candidate of this.#candidates) {
      if (candidate.dropped !== undefined || !isIn(candidate)) continue;
      const { system, channel, batch } = candidate.asked;
      this.#context.progress(`${this.#name}, ${what}: ${describeAsked(system.name, channel.protocol, batch)}`);
      try {
        await act(candidate);
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw new Error(`${system.name}, ${channel.protocol}`, { cause: error });
        for (const each of this.#candidates) {
          if (each.asked.system === system && (each.asked.batch ?? 0) >= (batch ?? 0)) each.dropped ??= error.message;
        }
        this.#context.progress(`${system.name} is out, by ${channel.protocol}: ${error.message}`);
      }
    }
  }

  job({ system, channel, batch }: Asked): Omit<LoadJob, 'mode' | 'seconds'> {
    const { operation, shape, workers } = this.#task;
    return {
      ...channel,
      system: system.product,
      operation,
      grants: this.#context.grants,
      workers,
      processes: system.processes,
      ...(shape === undefined ? {} : { shape }),
      ...(batch === undefined ? {} : { perCall: batch }),
      ...(operation === 'write' ? { start: this.#context.takeNewGrants() } : {}),
    };
  }

  /** Warms the caches and verifies every answer of each protocol. */
  async askOnce(): Promise<void> {
    const { load, pace } = this.#context;
    await this.each('every question once', async ({ asked }) => {
      await load.run({ ...this.job(asked), mode: 'once', seconds: pace.firstSeconds });
    });
  }
}
