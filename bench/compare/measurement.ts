// The measurements of every system: in turns, in several rounds, so that other load on the machine affects all alike.

import { median } from '../statistics.ts';
import type { LoadJob, LoadResult, Operation, Shape } from './load-job.ts';
import { type LoadProgram, NoAnswer } from './load-program.ts';
import type { Channel, System } from './systems/system.ts';

export interface Task {
  readonly operation: Exclude<Operation, 'load'>;
  readonly shape?: Shape;
  /** Requests in flight at a time. */
  readonly workers: number;
  /** No question is asked twice, so no cache has the answer. */
  readonly everNew?: boolean;
}

/** Enough to keep every system here busy; fewer for tasks whose requests cost more. */
export const TASKS = {
  wide: { operation: 'check', shape: 'wide', workers: 64 },
  deep: { operation: 'check', shape: 'deep', workers: 64 },
  new: { operation: 'check', shape: 'wide', workers: 64, everNew: true },
  batch: { operation: 'batch', shape: 'wide', workers: 8 },
  filter: { operation: 'batch', shape: 'deep', workers: 8 },
  list: { operation: 'list', workers: 16 },
  subjects: { operation: 'subjects', workers: 16 },
  write: { operation: 'write', workers: 64 },
  ruled: { operation: 'check', shape: 'ruled', workers: 64 },
  'ruled-new': { operation: 'check', shape: 'ruled', workers: 64, everNew: true },
  'ruled-list': { operation: 'list', shape: 'ruled', workers: 4 },
  'ruled-subjects': { operation: 'subjects', shape: 'ruled', workers: 4 },
} satisfies Readonly<Record<string, Task>>;
export type TaskName = keyof typeof TASKS;

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

/** One round: a measurement per check (also within a batch), listing or write. */
export interface Round {
  readonly perSecond: number;
  readonly cpuMicros: number;
  readonly loadMicros: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly memoryBytes: number;
}

export interface Series {
  readonly system: System;
  readonly channel: Channel;
  /** Checks in one call, if the task has batches. */
  readonly batch?: number;
  readonly saturated: Round[];
  readonly half: Round[];
  /** Why its measurement ended early. */
  dropped?: string;
}

export interface MeasureContext {
  readonly load: LoadProgram;
  readonly grants: number;
  readonly pace: Pace;
  /** The number of an unused grant; the next million are unused too. */
  takeNewGrants(): number;
  progress(text: string): void;
}

/** The load for latencies, as a share of the rate at saturation. */
const HALF = 0.5;
/** Different ones about rules, with the fewest grants. */
const RULED_QUESTIONS_MIN = 8_000_000;
/** Every other task asks some of these first questions. */
const QUESTIONS_KEPT = 10_000;
/**
 * A store or protocol that takes more than this in the first round, relative to the best, by either measure, cannot be
 * the better one.
 */
const HOPELESS = 1.5;

/** Questions about rules have grants of their own. */
const channelsOf = ({ channels, ruled }: System, { shape }: Task): readonly Channel[] =>
  shape === 'ruled' ? (ruled?.channels ?? []) : channels;

function canDo(system: System, { operation }: Task): boolean {
  switch (operation) {
    case 'check':
      return true;
    case 'batch':
      return system.batches.length > 0;
    case 'list':
    case 'subjects':
      return system.lists;
    case 'write':
      return system.durable;
  }
}

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

export class Measurement {
  readonly #context: MeasureContext;
  readonly #task: Task;
  readonly #series: Series[];
  /** For tasks with new questions only: the next one of each system. */
  readonly #next = new Map<System, number>();

  constructor(context: MeasureContext, task: Task, systems: readonly System[]) {
    this.#context = context;
    this.#task = task;
    this.#series = systems
      .filter((system) => canDo(system, task))
      .flatMap((system) => channelsOf(system, task).flatMap((channel) => this.#seriesOf(system, channel)));
  }

  #seriesOf(system: System, channel: Channel): Series[] {
    const common = (): Series => ({ system, channel, saturated: [], half: [] });
    if (this.#task.operation !== 'batch') return [common()];
    const sizes = system.batches.filter((size) => size <= this.#context.pace.batchMax);
    return sizes.map((batch) => ({ ...common(), batch }));
  }

  async run(): Promise<readonly Series[]> {
    const { pace } = this.#context;
    const { operation, everNew = false } = this.#task;
    if (operation !== 'write' && !everNew) await this.#each('every question once', (series) => this.#askOnce(series));
    await this.#each('warming up', async (series) => {
      await this.#measure(series, { mode: 'saturate', seconds: pace.heatSeconds });
    });
    for (let round = 1; round <= pace.rounds; round += 1) {
      await this.#each(`saturated, round ${round} of ${pace.rounds}`, async (series) => {
        series.saturated.push(await this.#measure(series, { mode: 'saturate' }));
      });
      if (round === 1) this.#dropHopeless();
    }
    if (operation !== 'check') return this.#series;
    for (let round = 1; round <= pace.rounds; round += 1) {
      await this.#each(`at half of that, round ${round} of ${pace.rounds}`, async (series) => {
        const perSecond = HALF * medianOf(series.saturated, (each) => each.perSecond);
        series.half.push(await this.#measure(series, { mode: 'rate', perSecond }));
      });
    }
    return this.#series;
  }

  /**
   * In turn, for all that are still in. One that does not answer is out, and so are the other channels of its system.
   */
  async #each(what: string, act: (series: Series) => Promise<void>): Promise<void> {
    for (const series of this.#series) {
      if (series.dropped !== undefined) continue;
      const { system, channel, batch = 0 } = series;
      const size = batch === 0 ? '' : `, ${batch} at a time`;
      this.#context.progress(`${this.#name}, ${what}: ${system.name}, ${channel.protocol}${size}`);
      try {
        await act(series);
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw new Error(`${system.name}, ${channel.protocol}`, { cause: error });
        for (const each of this.#series) {
          if (each.system === system && (each.batch ?? 0) >= batch) each.dropped ??= error.message;
        }
        this.#context.progress(`${system.name} is out, by ${channel.protocol}: ${error.message}`);
      }
    }
  }

  get #name(): string {
    const { operation, shape = '', everNew = false } = this.#task;
    return `${everNew ? 'new ' : ''}${operation} ${shape}`.trim();
  }

  #job({ system, channel, batch }: Series): Omit<LoadJob, 'mode' | 'seconds'> {
    const { operation, shape, workers, everNew = false } = this.#task;
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
      ...(everNew ? { start: this.#next.get(system) ?? QUESTIONS_KEPT } : {}),
    };
  }

  /** grantd and the echo cache no answers, so questions may repeat. */
  #countAsked(system: System, asked: number): void {
    if (this.#task.everNew !== true || system.product === 'grantd' || system.product === 'echo') return;
    const next = (this.#next.get(system) ?? QUESTIONS_KEPT) + asked;
    this.#next.set(system, next);
    // Of the others, there are as many as grants.
    const questions = this.#task.shape === 'ruled' ? RULED_QUESTIONS_MIN : this.#context.grants;
    if (next > questions) throw new NoAnswer('Every question was asked: it takes more grants.');
  }

  /** Warms the caches and verifies every answer of this channel. */
  async #askOnce(series: Series): Promise<void> {
    const { load, pace } = this.#context;
    await load.run({ ...this.#job(series), mode: 'once', seconds: pace.firstSeconds });
  }

  async #measure(series: Series, how: Pick<LoadJob, 'mode' | 'perSecond'> & { seconds?: number }): Promise<Round> {
    const { warmUpSeconds, seconds } = this.#context.pace;
    const result = await this.#context.load.run({ ...this.#job(series), warmUpSeconds, seconds, ...how });
    this.#countAsked(series.system, result.asked);
    return toRound(result, series.batch ?? 1);
  }

  /** For each peer and protocol, keeps only the stores that may be the better one, by processor time or by speed. */
  #dropHopeless(): void {
    for (const series of this.#series) {
      const { channel } = series;
      const { product } = series.system;
      const [own] = series.saturated;
      if (own === undefined || product === 'grantd' || product === 'echo') continue;
      const rivals = this.#series
        .filter((each) => each.system.product === product && each.channel.protocol === channel.protocol)
        .flatMap(({ saturated }) => saturated.slice(0, 1));
      const hopeless =
        rivals.some(({ cpuMicros }) => own.cpuMicros > HOPELESS * cpuMicros) &&
        rivals.some(({ perSecond }) => own.perSecond * HOPELESS < perSecond);
      if (hopeless) series.dropped = 'clearly not its best: left out after the first round';
    }
  }
}
