// `npm run simulate -- --seeds N --from S` runs seeds; `--seed N` replays one with its trace. `--focus NAME` makes the
// faults of one kind frequent, `--mutation NAME` switches a protection off. With `--journal FILE` the same command goes
// on where an earlier one was interrupted.

import { availableParallelism } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { mutate, watchAssertions } from './mutate.ts';
import { MUTATIONS } from './mutations.ts';
import { FOCUSES, type Focus } from './profile.ts';
import { renderFailure, renderProgress, renderSummary, sumOf, type Totals, totalsOf } from './render-results.ts';
import { runSeeds } from './run-seeds.ts';
import { SeedJournal } from './seed-journal.ts';
import type { RunResult } from './simulation-run.ts';

const PROGRESS_MS = 10_000;

interface Options {
  readonly seed?: number;
  readonly seeds: number;
  readonly from: number;
  readonly focus: Focus;
  readonly mutation?: string;
  readonly workers: number;
  readonly journal?: string;
  readonly stopAtFailure: boolean;
}

const parseCount = (text: string): number => {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) throw new InvalidArgumentError('It is a whole number from 1 on.');
  return count;
};

const options = new Command('simulate')
  .description('Runs the shards and the fronts over virtual time, a seed at a time, and judges every answer.')
  .option('--seeds <count>', 'how many seeds', parseCount, 1000)
  .option('--from <seed>', 'the first of them', parseCount, 1)
  .option('--seed <seed>', 'replays this one, with a readable trace', parseCount)
  .addOption(
    new Option('--focus <name>', 'makes the faults of one kind frequent').choices([...FOCUSES]).default('broad'),
  )
  .addOption(new Option('--mutation <name>', 'switches a protection off').choices(MUTATIONS.map(({ name }) => name)))
  .option('--workers <count>', 'processes at work', parseCount, availableParallelism())
  .option('--journal <file>', 'notes what is done, and goes on from there when it is called again')
  .option('--stop-at-failure', 'ends with the first seed that fails', false)
  .parse()
  .opts<Options>();
const { focus } = options;
const mutation = MUTATIONS.find(({ name }) => name === options.mutation);

const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

if (options.seed !== undefined) {
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
  const results: RunResult[] = [];
  const totals = (): Totals => sumOf([before, totalsOf(results)]);
  const elapsedMs = (): number => performance.now() - startedMs;
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  process.once('SIGTERM', () => interrupted.abort());
  const progress = setInterval(() => {
    process.stderr.write(`${renderProgress(totals(), count, { runs: results.length, elapsedMs: elapsedMs() })}\n`);
  }, PROGRESS_MS);
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
  clearInterval(progress);
  const end = totals();
  print(renderSummary(end, elapsedMs()));
  if (interrupted.signal.aborted) print('It was interrupted: not all seeds were run.');
  process.exitCode = interrupted.signal.aborted || end.failedSeeds.length > 0 ? 1 : 0;
}
