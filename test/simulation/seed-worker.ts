// A worker process: runs the seeds that it is given by its arguments and writes one JSON line per run.

import { mutate, watchAssertions } from './mutate.ts';
import { MUTATIONS } from './mutations.ts';
import type { Focus } from './profile.ts';

export interface WorkerTask {
  readonly seeds: readonly number[];
  readonly focus: Focus;
  readonly mutation?: string | undefined;
}

const task = JSON.parse(process.argv[2] ?? '') as WorkerTask;
const mutation = MUTATIONS.find(({ name }) => name === task.mutation);
if (task.mutation !== undefined && mutation === undefined) throw new Error(`No mutation is called ${task.mutation}.`);
watchAssertions();
if (mutation !== undefined) mutate(mutation);
const { runSeed } = await import('./simulation-run.ts');
for (const seed of task.seeds) {
  process.stdout.write(`${JSON.stringify(await runSeed({ seed, focus: task.focus }))}\n`);
}
