// `npm run simulate -- --mutations`: for each mutation, or each that is named, a seed that catches it.

import { findSeeds, readRecords, recordCommand, WorkerRuns, writeRecords } from './mutation-records.ts';
import { MUTATIONS } from './mutations.ts';
import { renderFailure } from './render-results.ts';

interface SearchOptions {
  /** None: all. */
  readonly names: readonly string[];
  /** Writes each seed to the file of records when it is found. */
  readonly record: boolean;
  readonly from: number;
  readonly seeds: number;
  readonly workers: number;
}

/** Resolves to whether each of them is caught, and by a seed with which the code as it is passes. */
export async function searchMutations(options: SearchOptions, print: (text: string) => void): Promise<boolean> {
  const { names, record, from, seeds: count, workers } = options;
  const mutations = MUTATIONS.filter(({ name }) => names.length === 0 || names.includes(name));
  const before = readRecords();
  const records = new Map(before);
  const failed: string[] = [];
  const startedMs = performance.now();
  const runs = new WorkerRuns(workers);
  let done = 0;
  await findSeeds(runs, mutations, { records: before, from, count }, ({ mutation, caught, unmutated }) => {
    const { name, caughtBy } = mutation;
    done += 1;
    const passes = unmutated?.failures.length === 0;
    if (!passes) failed.push(name);
    if (passes && caught !== undefined) records.set(name, caught.seed);
    if (record) writeRecords(records);
    const by =
      caught === undefined
        ? `not caught up to seed ${from + count - 1}`
        : `caught by seed ${caught.seed}, in ${Math.round(caught.cpuMs)} ms`;
    const seconds = Math.round((performance.now() - startedMs) / 1000);
    print(`${done} of ${mutations.length} in ${seconds} s: ${name} (${caughtBy}) is ${by}`);
    if (unmutated !== undefined && !passes)
      print(`Without the mutation, it is wrong, too. ${renderFailure(unmutated)}`);
  });
  runs.end();
  if (!record) print(`Nothing is recorded. To record these seeds: ${recordCommand(names)}`);
  if (failed.length > 0) print(`Failed: ${failed.join(' ')}`);
  return failed.length === 0;
}
