// What each system can do at most, and the latencies at half of that: in turns, in several rounds.

import { median } from '../statistics.ts';
import {
  isModelShape,
  type LoadJob,
  type LoadResult,
  type ModelShape,
  type Product,
  type Protocol,
} from './load-job.ts';
import { NoAnswer } from './load-program.ts';
import type { System } from './systems/system.ts';
import { listAsked, type Task, type TaskName, taskOf } from './tasks.ts';
import { type Candidate, type MeasureContext, QUESTIONS_KEPT, Turns } from './turns.ts';

/** One round: a measurement per check (also within a batch), listing or change. */
export interface Round {
  readonly perSecond: number;
  readonly cpuMicros: number;
  readonly loadMicros: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly memoryBytes: number;
}

/** The rounds of one system by one protocol, for the record: without addresses and keys. */
export interface Series {
  readonly system: string;
  readonly product: Product;
  readonly protocol: Protocol;
  /** Checks or changes in one call, if the task has several. */
  readonly batch?: number;
  readonly saturated: readonly Round[];
  readonly half: readonly Round[];
  /** Why its measurement ended early. */
  readonly dropped?: string;
}

interface Measured extends Candidate {
  readonly saturated: Round[];
  readonly half: Round[];
}

/** The load for latencies, as a share of the rate at saturation. */
const HALF = 0.5;
/** Different ones that a model decides, with the fewest grants. */
const QUESTIONS_MIN: Readonly<Record<ModelShape, number>> = {
  ruled: 8_000_000,
  gated: 2_000_000,
  conditional: 100_000_000,
};
/**
 * A store or protocol that takes more than this in the first round, relative to the best, by either measure, cannot be
 * the better one.
 */
const HOPELESS = 1.5;

function toRound({ answered, seconds, cpuSeconds, loadCpuSeconds, ...rest }: LoadResult, perCall: number): Round {
  const done = answered * perCall;
  const { p50Ms, p99Ms, memoryBytes } = rest;
  return {
    perSecond: done / seconds,
    cpuMicros: (cpuSeconds * 1e6) / done,
    loadMicros: (loadCpuSeconds * 1e6) / done,
    p50Ms,
    p99Ms,
    memoryBytes,
  };
}

export const medianOf = (rounds: readonly Round[], of: (round: Round) => number): number => median(rounds.map(of));

function toSeries({ asked, saturated, half, dropped }: Measured): Series {
  const { system, channel, batch } = asked;
  return {
    system: system.name,
    product: system.product,
    protocol: channel.protocol,
    ...(batch === undefined ? {} : { batch }),
    saturated,
    half,
    ...(dropped === undefined ? {} : { dropped }),
  };
}

export class Measurement {
  readonly #context: MeasureContext;
  readonly #task: Task;
  readonly #measured: readonly Measured[];
  readonly #turns: Turns<Measured>;
  /** For tasks with new questions only: the next one of each system. */
  readonly #next = new Map<System, number>();

  constructor(context: MeasureContext, name: TaskName, systems: readonly System[]) {
    this.#context = context;
    this.#task = taskOf(name);
    this.#measured = listAsked(systems, this.#task, context.pace.batchMax).map((asked) => ({
      asked,
      saturated: [],
      half: [],
    }));
    this.#turns = new Turns(context, name, this.#measured);
  }

  async run(): Promise<readonly Series[]> {
    const { rounds, heatSeconds } = this.#context.pace;
    const { operation, everNew = false } = this.#task;
    if (operation !== 'write' && !everNew) await this.#turns.askOnce();
    await this.#turns.each('warming up', async (each) => {
      await this.#measure(each, { mode: 'saturate', seconds: heatSeconds });
    });
    for (let round = 1; round <= rounds; round += 1) {
      await this.#turns.each(`saturated, round ${round} of ${rounds}`, async (each) => {
        each.saturated.push(await this.#measure(each, { mode: 'saturate' }));
      });
      if (round === 1) this.#dropHopeless();
    }
    for (let round = 1; operation === 'check' && round <= rounds; round += 1) {
      await this.#turns.each(`at half of that, round ${round} of ${rounds}`, async (each) => {
        const perSecond = HALF * medianOf(each.saturated, (one) => one.perSecond);
        each.half.push(await this.#measure(each, { mode: 'rate', perSecond }));
      });
    }
    return this.#measured.map(toSeries);
  }

  /** grantd caches no answers without rules, and the echo none at all, so these questions may repeat. */
  #countAsked(system: System, asked: number): void {
    const { everNew, shape } = this.#task;
    const isCached = isModelShape(shape) || (system.product !== 'grantd' && system.product !== 'echo');
    if (everNew !== true || !isCached) return;
    const next = (this.#next.get(system) ?? QUESTIONS_KEPT) + asked;
    this.#next.set(system, next);
    // Of the others, there are as many as grants.
    const questions = isModelShape(shape) ? QUESTIONS_MIN[shape] : this.#context.grants;
    if (next > questions) throw new NoAnswer('Every question was asked: it takes more grants.');
  }

  async #measure(
    { asked }: Measured,
    how: Pick<LoadJob, 'mode' | 'perSecond'> & { readonly seconds?: number },
  ): Promise<Round> {
    const { load, pace } = this.#context;
    const { warmUpSeconds, seconds } = pace;
    const start = this.#task.everNew === true ? { start: this.#next.get(asked.system) ?? QUESTIONS_KEPT } : {};
    const result = await load.run({ ...this.#turns.job(asked), ...start, warmUpSeconds, seconds, ...how });
    this.#countAsked(asked.system, result.asked);
    return toRound(result, asked.batch ?? 1);
  }

  /** For each peer and protocol, keeps only the stores that may be the better one, by processor time or by speed. */
  #dropHopeless(): void {
    for (const each of this.#measured) {
      const { system, channel } = each.asked;
      const [own] = each.saturated;
      if (own === undefined || system.product === 'grantd' || system.product === 'echo') continue;
      const rivals = this.#measured
        .filter(({ asked }) => asked.system.product === system.product && asked.channel.protocol === channel.protocol)
        .flatMap(({ saturated }) => saturated.slice(0, 1));
      const hopeless =
        rivals.some(({ cpuMicros }) => own.cpuMicros > HOPELESS * cpuMicros) &&
        rivals.some(({ perSecond }) => own.perSecond * HOPELESS < perSecond);
      if (hopeless) each.dropped = 'clearly not its best: left out after the first round';
    }
  }
}
