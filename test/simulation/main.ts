// `npm run simulate -- --seeds N --from S` runs seeds; `--seed N` replays one with its trace. `--focus NAME` makes the
// faults of one kind frequent, `--mutation NAME` switches a protection off, under the focus that catches it.

import { availableParallelism } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { watchAssertions } from './mutate.ts';
import { loadSwitches, switchOn } from './mutation-switch.ts';
import { MUTATIONS } from './mutations.ts';
import { sumOfReached } from './probes.ts';
import { FOCUSES, type Focus } from './profile.ts';
import { renderFailure, renderProgress, renderReached, renderSummary, totalsOf } from './render-results.ts';
import { type MeasuredResult, runSeeds, SeedWorkers } from './seed-workers.ts';

const PROGRESS_MS = 10_000;

interface Options {
  readonly seed?: number;
  readonly seeds: number;
  readonly from: number;
  readonly focus?: Focus;
  readonly mutation?: string;
  readonly workers: number;
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
  .addOption(new Option('--focus <name>', 'makes the faults of one kind frequent').choices([...FOCUSES]))
  .addOption(new Option('--mutation <name>', 'switches a protection off').choices(MUTATIONS.map(({ name }) => name)))
  .option('--workers <count>', 'processes at work', parseCount, availableParallelism())
  .option('--stop-at-failure', 'ends with the first seed that fails', false)
  .parse()
  .opts<Options>();
const mutation = MUTATIONS.find(({ name }) => name === options.mutation);
const focus = options.focus ?? mutation?.caughtBy ?? 'broad';

const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

if (options.seed !== undefined) {
  watchAssertions();
  if (mutation !== undefined) loadSwitches([mutation]);
  switchOn(options.mutation);
  const { runSeed } = await import('./simulation-run.ts');
  const result = await runSeed({ seed: options.seed, focus, write: print });
  for (const failure of result.failures) print(`\n${failure}`);
  print(`\n${renderSummary(totalsOf([result]), 0)}`);
  process.exitCode = result.failures.length === 0 ? 0 : 1;
} else {
  const { seeds: count, from, stopAtFailure } = options;
  const workers = new SeedWorkers(options.workers, mutation === undefined ? 'plain' : 'switches');
  const results: MeasuredResult[] = [];
  const startedMs = performance.now();
  const elapsedMs = (): number => performance.now() - startedMs;
  let isInterrupted = false;
  // Not once: npm passes on what a terminal has sent to both.
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.on(signal, () => {
      isInterrupted = true;
      workers.end();
    });
  }
  const progress = setInterval(() => {
    process.stderr.write(`${renderProgress(totalsOf(results), count, elapsedMs())}\n`);
  }, PROGRESS_MS);
  try {
    await runSeeds(workers, { from, count, focus, mutation: options.mutation }, (result) => {
      results.push(result);
      if (result.failures.length === 0) return;
      print(`${renderFailure(result, options.mutation)}\n`);
      if (stopAtFailure) workers.end();
    });
  } finally {
    workers.end();
    clearInterval(progress);
    if (isInterrupted) print('It was interrupted: not all seeds were run.');
    print(renderSummary(totalsOf(results), elapsedMs()));
    if (mutation === undefined) print(renderReached(sumOfReached(results)));
  }
  process.exitCode = isInterrupted || results.some(({ failures }) => failures.length > 0) ? 1 : 0;
}
