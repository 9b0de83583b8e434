// A worker process: runs the chunks of seeds that its parent sends, and tells it each result. It ends with its parent.

import { mutate, watchAssertions } from './mutate.ts';
import { loadSwitches, switchOn } from './mutation-switch.ts';
import { MUTATIONS } from './mutations.ts';
import type { Chunk, WorkerMessage, WorkerTask } from './seed-workers.ts';

const task = JSON.parse(process.argv[2] ?? '') as WorkerTask;
const mutation = MUTATIONS.find(({ name }) => name === task.mutation);
if (task.mutation !== undefined && mutation === undefined) throw new Error(`No mutation is called ${task.mutation}.`);
watchAssertions();
if (mutation !== undefined) mutate(mutation);
if (task.switches === true) loadSwitches(MUTATIONS);
const loaded = import('./simulation-run.ts');

/** Resolves when the message is on its way, so that none is lost at the end. */
const tell = (message: WorkerMessage): Promise<void> =>
  new Promise((resolve, reject) => {
    process.send?.(message, undefined, undefined, (error) => (error === null ? resolve() : reject(error)));
  });

async function run({ from, count, focus, switchedOn, stopAtFailure }: Chunk): Promise<void> {
  const { runSeed } = await loaded;
  switchOn(switchedOn);
  for (let seed = from; seed < from + count; seed += 1) {
    const result = await runSeed({ seed, focus });
    await tell({ result });
    if (stopAtFailure === true && result.failures.length > 0) break;
  }
  await tell({ result: undefined });
}

process.on('message', (chunk: Chunk) => void run(chunk));
process.on('disconnect', () => process.exit());
