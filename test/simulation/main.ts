// `npm run simulate -- --seeds N --from S` runs seeds; `--seed N` replays one with its trace. `--focus NAME` makes the faults
// of one kind frequent, `--mutation NAME` switches a protection off.

import { Command, InvalidArgumentError, Option } from 'commander';
import { mutate, watchAssertions } from './mutate.ts';
import { MUTATIONS } from './mutations.ts';
import { FOCUSES, type Focus } from './profile.ts';
import { renderFailure, renderSummary } from './render-results.ts';
import { runSeeds } from './run-seeds.ts';

interface Options {
  readonly seed?: number;
  readonly seeds: number;
  readonly from: number;
  readonly focus: Focus;
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
  .addOption(
    new Option('--focus <name>', 'makes the faults of one kind frequent').choices([...FOCUSES]).default('broad'),
  )
  .addOption(new Option('--mutation <name>', 'switches a protection off').choices(MUTATIONS.map(({ name }) => name)))
  .option('--workers <count>', 'processes at work', parseCount, 2)
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
  print(`\n${renderSummary([result], 0)}`);
  process.exitCode = result.failures.length === 0 ? 0 : 1;
} else {
  const startedMs = performance.now();
  const results = await runSeeds(
    {
      from: options.from,
      count: options.seeds,
      focus,
      mutation: options.mutation,
      workers: options.workers,
      stopAtFailure: options.stopAtFailure,
    },
    (result) => {
      if (result.failures.length > 0) print(`${renderFailure(result, options.mutation)}\n`);
    },
  );
  print(renderSummary(results, performance.now() - startedMs));
  process.exitCode = results.some(({ failures }) => failures.length > 0) ? 1 : 0;
}
