// By which seed each mutation is caught: a file of records, which the tests replay, and the search that makes it.

import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { MUTATIONS, type Mutation } from './mutations.ts';
import type { Focus } from './profile.ts';
import { SeedWorkers } from './seed-workers.ts';
import type { RunResult } from './simulation-run.ts';

/** Within these, counted from the first, each mutation is caught. */
export const SEARCH_SEEDS = 1000;
/** Searched where the recorded seed no longer catches. A change of the program may change every run. */
export const REPLAY_SEEDS = 40;

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
  search(mutation: Mutation, from: number, count: number): Promise<RunResult | undefined>;
  /** The run of the code as it is. */
  runUnmutated(focus: Focus, seed: number): Promise<RunResult>;
}

/** Runs in worker processes, which all share. */
export class WorkerRuns implements MutationRuns {
  readonly #workers: SeedWorkers;
  readonly #unmutated = new Map<string, Promise<RunResult>>();

  constructor(workers: number = availableParallelism()) {
    this.#workers = new SeedWorkers(workers, 'switches');
  }

  async search({ name, caughtBy: focus }: Mutation, from: number, count: number): Promise<RunResult | undefined> {
    const results = await this.#workers.run({ from, count, focus, mutation: name, stopAtFailure: true });
    return results?.find(({ failures }) => failures.length > 0);
  }

  /** Once for all mutations that are caught by the same seed. */
  runUnmutated(focus: Focus, seed: number): Promise<RunResult> {
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
  readonly caught: RunResult | undefined;
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
  readonly caught: RunResult | undefined;
  /** The code as it is, by the same seed. */
  readonly unmutated: RunResult | undefined;
}

/**
 * Searches a seed for each of the mutations: first among those of others with its focus, since the code as it is has to
 * be run once for all mutations of a seed; then its own; then from `from` on.
 */
export async function findSeeds(
  runs: MutationRuns,
  mutations: readonly Mutation[],
  { records, from, count }: { records: Records; from: number; count: number },
  onFound: (found: Found) => void,
): Promise<void> {
  const find = async (mutation: Mutation, likely: Iterable<number>): Promise<RunResult | undefined> => {
    for (const seed of likely) {
      const caught = await runs.search(mutation, seed, 1);
      if (caught !== undefined) return caught;
    }
    return runs.search(mutation, from, count);
  };
  const findAll = async (some: readonly Mutation[], seeds: Set<number>): Promise<void> => {
    for (const mutation of some) {
      const caught = await find(mutation, new Set([...seeds, ...seedOf(mutation)]));
      if (caught !== undefined) seeds.add(caught.seed);
      const unmutated = caught === undefined ? undefined : await runs.runUnmutated(caught.focus, caught.seed);
      onFound({ mutation, caught, unmutated });
    }
  };
  const seedOf = ({ name }: Mutation): number[] => [records.get(name) ?? []].flat();
  const groups = Map.groupBy(MUTATIONS, ({ caughtBy }) => caughtBy);
  await Promise.all(
    [...groups.values()].map((group) => {
      const some = group.filter((each) => mutations.includes(each));
      // Those hard to catch first: their seeds may catch others, too.
      some.sort((a, b) => (records.get(b.name) ?? 0) - (records.get(a.name) ?? 0));
      return findAll(some, new Set(group.filter((each) => !mutations.includes(each)).flatMap(seedOf)));
    }),
  );
}
