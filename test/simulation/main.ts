// `npm run simulate -- --seeds N --from S` runs seeds; `--seed N` replays one with its trace. `--focus NAME` makes the
// faults of one kind frequent, `--mutation NAME` switches a protection off. With `--journal FILE` the same command goes
// on where an earlier one was interrupted. `--mutations` searches seeds that catch mutations, `--record` notes them for
// the tests.

import { availableParallelism } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { mutate, watchAssertions } from './mutate.ts';
import { MUTATIONS } from './mutations.ts';
import { sumOfReached } from './probes.ts';
import { FOCUSES, type Focus } from './profile.ts';
import {
  renderFailure,
  renderProgress,
  renderReached,
  renderSummary,
  sumOf,
  type Totals,
  totalsOf,
} from './render-results.ts';
import { runSeeds } from './run-seeds.ts';
import { searchMutations } from './search-mutations.ts';
import { SeedJournal } from './seed-journal.ts';
import type { MeasuredResult } from './seed-workers.ts';

const PROGRESS_MS = 10_000;

interface Options {
  readonly seed?: number;
  readonly seeds: number;
  readonly from: number;
  readonly focus: Focus;
  readonly mutation?: string;
  /** True: all. */
  readonly mutations?: true | readonly string[];
  readonly record?: boolean;
  readonly workers: number;
  readonly journal?: string;
  readonly stopAtFailure: boolean;
}

const parseCount = (text: string): number => {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) throw new InvalidArgumentError('It is a whole number from 1 on.');
  return count;
};

const NAMES = MUTATIONS.map(({ name }) => name);

const command = new Command('simulate')
  .description('Runs the shards and the fronts over virtual time, a seed at a time, and judges every answer.')
  .option('--seeds <count>', 'how many seeds', parseCount, 1000)
  .option('--from <seed>', 'the first of them', parseCount, 1)
  .option('--seed <seed>', 'replays this one, with a readable trace', parseCount)
  .addOption(
    new Option('--focus <name>', 'makes the faults of one kind frequent').choices([...FOCUSES]).default('broad'),
  )
  .addOption(new Option('--mutation <name>', 'switches a protection off').choices(NAMES))
  .addOption(
    new Option('--mutations [names...]', 'searches a seed that catches each mutation, or each of these').conflicts([
      'seed',
      'focus',
      'mutation',
      'journal',
      'stopAtFailure',
    ]),
  )
  .option('--record', 'with --mutations: writes the seeds to mutation-records.json, which the tests replay')
  .option('--workers <count>', 'processes at work', parseCount, availableParallelism())
  .option('--journal <file>', 'notes what is done, and goes on from there when it is called again')
  .option('--stop-at-failure', 'ends with the first seed that fails', false)
  .parse();
const options = command.opts<Options>();
const { focus } = options;
if (options.record === true && options.mutations === undefined) command.error('error: --record goes with --mutations');
const mutation = MUTATIONS.find(({ name }) => name === options.mutation);

const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

if (options.mutations !== undefined) {
  const { mutations, record = false, from, seeds, workers } = options;
  const names = mutations === true ? [] : mutations;
  const unknown = names.filter((name) => !NAMES.includes(name));
  if (unknown.length > 0) command.error(`error: no mutation is called ${unknown.join(', ')}`);
  process.exitCode = (await searchMutations({ names, record, from, seeds, workers }, print)) ? 0 : 1;
} else if (options.seed !== undefined) {
  watchAssertions();
  if (mutation !== undefined) mutate(mutation);
  const { runSeed } = await import('./simulation-run.ts');
  const result = await runSeed({ seed: options.seed, focus, write: print });
  for (const failure of result.failures) print(`\n${failure}`);
  print(`\n${renderSummary(totalsOf([result]), 0)}`);
  process.exitCode = result.failures.length === 0 ? 0 : 1;
} else {
  const { seeds: count, from, journal: path } = options;
  const journal =
    path === undefined ? undefined : new SeedJournal(path, { from, count, focus, mutation: options.mutation ?? '' });
  const before = journal?.totals ?? totalsOf([]);
  const startedMs = performance.now();
  const results: MeasuredResult[] = [];
  const totals = (): Totals => sumOf([before, totalsOf(results)]);
  const elapsedMs = (): number => performance.now() - startedMs;
  const interrupted = new AbortController();
  // Not once: npm passes on what a terminal has sent to both.
  process.on('SIGINT', () => interrupted.abort());
  process.on('SIGTERM', () => interrupted.abort());
  const progress = setInterval(() => {
    process.stderr.write(`${renderProgress(totals(), count, { runs: results.length, elapsedMs: elapsedMs() })}\n`);
  }, PROGRESS_MS);
  try {
    await runSeeds(
      {
        from,
        count,
        focus,
        mutation: options.mutation,
        workers: options.workers,
        stopAtFailure: options.stopAtFailure,
        signal: interrupted.signal,
        ...(journal === undefined ? {} : { done: journal.done }),
      },
      (result) => {
        results.push(result);
        if (result.failures.length > 0) print(`${renderFailure(result, options.mutation)}\n`);
      },
      (chunk, ofChunk) => journal?.add(chunk, totalsOf(ofChunk)),
    );
  } finally {
    clearInterval(progress);
    if (interrupted.signal.aborted) print('It was interrupted: not all seeds were run.');
    print(renderSummary(totals(), elapsedMs()));
    if (mutation === undefined) print(renderReached(sumOfReached(results)));
  }
  process.exitCode = interrupted.signal.aborted || totals().failedSeeds.length > 0 ? 1 : 0;
}
