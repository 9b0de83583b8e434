// `npm run simulate -- --seeds N --from S` runs seeds; `--seed N` replays one with its trace. `--focus NAME` makes the faults
// of one kind frequent, `--mutation NAME` switches a protection off.

import { parseArgs } from 'node:util';
import { mutate } from './mutate.ts';
import { MUTATIONS } from './mutations.ts';
import { FOCUSES } from './profile.ts';
import { renderFailure, renderSummary } from './render-results.ts';
import { runSeeds } from './run-seeds.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    focus: { type: 'string', default: 'broad' },
    mutation: { type: 'string' },
    workers: { type: 'string', default: '2' },
    'stop-at-failure': { type: 'boolean', default: false },
  },
});

const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

const focus = FOCUSES.find((name) => name === values.focus);
if (focus === undefined) throw new Error(`--focus is one of ${FOCUSES.join(', ')}.`);
const mutation = MUTATIONS.find(({ name }) => name === values.mutation);
if (values.mutation !== undefined && mutation === undefined) {
  throw new Error(`--mutation is one of ${MUTATIONS.map(({ name }) => name).join(', ')}.`);
}

if (values.seed !== undefined) {
  if (mutation !== undefined) mutate(mutation);
  const { runSeed } = await import('./simulation-run.ts');
  const result = await runSeed({ seed: Number(values.seed), focus, write: print });
  for (const failure of result.failures) print(`\n${failure}`);
  print(`\n${renderSummary([result], 0)}`);
  process.exitCode = result.failures.length === 0 ? 0 : 1;
} else {
  const startedMs = performance.now();
  const results = await runSeeds(
    {
      from: Number(values.from),
      count: Number(values.seeds),
      focus,
      mutation: values.mutation,
      workers: Number(values.workers),
      stopAtFailure: values['stop-at-failure'],
    },
    (result) => {
      if (result.failures.length > 0) print(`${renderFailure(result, values.mutation)}\n`);
    },
  );
  print(renderSummary(results, performance.now() - startedMs));
  process.exitCode = results.some(({ failures }) => failures.length > 0) ? 1 : 0;
}
