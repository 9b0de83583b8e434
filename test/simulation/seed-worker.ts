// A worker process: runs the chunks of seeds that its parent sends, and tells it each result. It ends with its parent.

import { flushCompileCache } from 'node:module';
import { watchAssertions } from './mutate.ts';
import { loadSwitches, switchOn } from './mutation-switch.ts';
import { MUTATIONS } from './mutations.ts';
import { loadProbes, takeReached } from './probes.ts';
import type { Chunk, WorkerCode, WorkerMessage } from './seed-workers.ts';

const SWITCHES: WorkerCode = 'switches';

watchAssertions();
if (process.argv[2] === SWITCHES) loadSwitches(MUTATIONS);
else loadProbes();
const loaded = import('./simulation-run.ts');

/** Resolves when the message is on its way, so that none is lost at the end. */
const tell = (message: WorkerMessage): Promise<void> =>
  new Promise((resolve, reject) => {
    process.send?.(message, undefined, undefined, (error) => (error === null ? resolve() : reject(error)));
  });

async function run({ from, count, focus, mutation, stopAtFailure = false }: Chunk): Promise<void> {
  const { runSeed } = await loaded;
  // At the end it is killed.
  flushCompileCache();
  switchOn(mutation);
  for (let seed = from; seed < from + count; seed += 1) {
    const result = await runSeed({ seed, focus, stopAtFailure });
    await tell({ result: { ...result, reached: takeReached() } });
    if (stopAtFailure && result.failures.length > 0) break;
  }
  await tell({ result: undefined });
}

process.on('message', (chunk: Chunk) => void run(chunk));
process.on('disconnect', () => process.exit());
// A terminal interrupts the whole group. The parent ends its workers when it has what they found.
process.on('SIGINT', () => {});
