// By which seed each mutation is caught: a file of records, which the tests replay, and the search that makes it.

import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { MUTATIONS, type Mutation } from './mutations.ts';
import type { Focus } from './profile.ts';
import { type MeasuredResult, SeedWorkers } from './seed-workers.ts';

/** Within these, counted from the first, each mutation is caught. */
export const SEARCH_SEEDS = 1000;
/** Searched where the recorded seed no longer catches. A change of the program may change every run. */
export const REPLAY_SEEDS = 40;
/** The first ones, of which the cheapest is recorded. */
const COMPARED_SEEDS = 12;
/** A long search takes one worker: the other workers have enough to do. */
const FOCUSES_AT_ONCE = 4;

const FILE = new URL('./mutation-records.json', import.meta.url);

/** Seeds by the name of the mutation. */
export type Records = ReadonlyMap<string, number>;

export const readRecords = (): Records => new Map(Object.entries(JSON.parse(readFileSync(FILE, 'utf8'))));

export function writeRecords(records: Records): void {
  const known = MUTATIONS.flatMap(({ name }) => (records.has(name) ? [[name, records.get(name)]] : []));
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(known), undefined, 2)}\n`);
}

/** The command that records mutations. */
export const recordCommand = (names: readonly string[]): string =>
  ['npm run simulate -- --mutations', ...names, '--record'].join(' ');

export interface MutationRuns {
  /** The first run that fails with the mutation, of `count` seeds; undefined: none does. */
  search(mutation: Mutation, from: number, count: number): Promise<MeasuredResult | undefined>;
  /** The run of the code as it is. */
  runUnmutated(focus: Focus, seed: number): Promise<MeasuredResult>;
}

/** Runs in worker processes, which all share. */
export class WorkerRuns implements MutationRuns {
  readonly #workers: SeedWorkers;
  readonly #unmutated = new Map<string, Promise<MeasuredResult>>();

  constructor(workers: number = availableParallelism()) {
    this.#workers = new SeedWorkers(workers, 'switches');
  }

  async search({ name, caughtBy: focus }: Mutation, from: number, count: number): Promise<MeasuredResult | undefined> {
    const results = await this.#workers.run({ from, count, focus, mutation: name, stopAtFailure: true });
    return results?.find(({ failures }) => failures.length > 0);
  }

  /** Once for all mutations that are caught by the same seed. */
  runUnmutated(focus: Focus, seed: number): Promise<MeasuredResult> {
    const key = `${focus} ${seed}`;
    const known = this.#unmutated.get(key);
    if (known !== undefined) return known;
    const run = this.#workers.run({ from: seed, count: 1, focus }).then((results) => {
      const result = results?.[0];
      if (result === undefined) throw new Error('The workers were ended.');
      return result;
    });
    this.#unmutated.set(key, run);
    return run;
  }

  end(): void {
    this.#workers.end();
  }
}

export interface Replay {
  readonly caught: MeasuredResult | undefined;
  /** What to do where the recorded seed does not catch. */
  readonly advice?: string;
}

/** Runs a mutation at its recorded seed, and where that no longer catches it, at others. */
export async function replay(runs: MutationRuns, mutation: Mutation, recorded: number): Promise<Replay> {
  const caught = await runs.search(mutation, recorded, 1);
  if (caught !== undefined) return { caught };
  const other = await runs.search(mutation, 1, REPLAY_SEEDS);
  const found = other === undefined ? `nor does any from 1 to ${REPLAY_SEEDS}` : `but seed ${other.seed} does`;
  const advice = `the recorded seed ${recorded} does not catch it, ${found}: ${recordCommand([mutation.name])}`;
  return { caught: other, advice };
}

export interface Found {
  readonly mutation: Mutation;
  /** Undefined: no seed catches it. */
  readonly caught: MeasuredResult | undefined;
  /** The code as it is, by the same seed. */
  readonly unmutated: MeasuredResult | undefined;
}

/**
 * Finds a seed for each of the mutations. Of the first seeds, it is the one whose runs take the least time; the code as
 * it is runs once for all mutations of the same focus that have the same seed. Else it is the recorded one or, where
 * that no longer catches, the next one that does.
 */
export async function findSeeds(
  runs: MutationRuns,
  mutations: readonly Mutation[],
  { records, from, count }: { records: Records; from: number; count: number },
  onFound: (found: Found) => void,
): Promise<void> {
  const first = Array.from({ length: Math.min(count, COMPARED_SEEDS) }, (_, index) => from + index);
  const next = from + first.length;
  /** `used`: seeds by which others with the same focus are caught. */
  const find = async (mutation: Mutation, used: ReadonlySet<number>): Promise<MeasuredResult | undefined> => {
    const costs = await Promise.all(
      [...new Set([...first, ...used])].map(async (seed) => {
        const caught = await runs.search(mutation, seed, 1);
        if (caught === undefined) return [];
        const shared = used.has(seed) ? 0 : (await runs.runUnmutated(mutation.caughtBy, seed)).cpuMs;
        return [{ caught, cpuMs: caught.cpuMs + shared }];
      }),
    );
    const [cheapest] = costs.flat().sort((a, b) => a.cpuMs - b.cpuMs);
    if (cheapest !== undefined) return cheapest.caught;
    const recorded = await runs.search(mutation, records.get(mutation.name) ?? from, 1);
    return recorded ?? runs.search(mutation, next, from + count - next);
  };
  const findAll = async (group: readonly Mutation[]): Promise<void> => {
    const others = group.filter((each) => !mutations.includes(each));
    const used = new Set(others.flatMap(({ name }) => records.get(name) ?? []));
    // Those that are hard to catch come first: their seeds may catch others, too.
    const hardest = mutations.toSorted((a, b) => (records.get(b.name) ?? 0) - (records.get(a.name) ?? 0));
    for (const mutation of hardest.filter((each) => group.includes(each))) {
      const caught = await find(mutation, used);
      if (caught !== undefined) used.add(caught.seed);
      const unmutated = caught === undefined ? undefined : await runs.runUnmutated(caught.focus, caught.seed);
      onFound({ mutation, caught, unmutated });
    }
  };
  const groups = Map.groupBy(MUTATIONS, ({ caughtBy }) => caughtBy).values();
  const findNext = async (): Promise<void> => {
    for (const group of groups) await findAll(group);
  };
  await Promise.all(Array.from({ length: FOCUSES_AT_ONCE }, findNext));
}
