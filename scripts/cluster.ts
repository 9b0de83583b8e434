// `npm run cluster`: a whole cluster on this machine, as processes that may be killed. It prints where everything is
// and what to try, runs until it is interrupted, and leaves neither a process nor a file behind, except the data with
// `--keep`.

import { createInterface } from 'node:readline';
import { reasonOf } from '../packages/cli/src/failures.ts';
import { onStopSignals, SIGNAL_EXIT_CODES } from '../src/roles/process/life-cycle.ts';
import { startCheckLoop } from './cluster/check-loop.ts';
import { ClusterRefusal, LocalCluster } from './cluster/local-cluster.ts';
import { HELP, type Options, readOptions } from './cluster/options.ts';
import { renderWalkThrough } from './cluster/walk-through.ts';

const STATUS_FAILED = 1;
const STATUS_USAGE = 2;

const { stdout, stderr } = process;
const say = (text: string): void => {
  stderr.write(`cluster: ${text}\n`);
};

/** Resolves at the first signal. A second one ends this process, and with it all others. */
function interrupted(): { readonly promise: Promise<void>; readonly signal: AbortSignal } {
  const controller = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  onStopSignals(
    () => {
      controller.abort();
      resolve();
    },
    (signal) => process.exit(SIGNAL_EXIT_CODES[signal]),
  );
  return { promise, signal: controller.signal };
}

async function run({ checks, ...options }: Options): Promise<void> {
  const end = interrupted();
  const cluster = await LocalCluster.start({ ...options, say, signal: end.signal });
  try {
    if (end.signal.aborted) return;
    stdout.write(renderWalkThrough(cluster, { checks }));
    const loop = checks ? startCheckLoop(cluster, (text) => stdout.write(`${text}\n`)) : undefined;
    const lines = createInterface({ input: process.stdin });
    lines.on('line', () => cluster.startEnded());
    await end.promise;
    lines.close();
    await loop?.stop();
  } finally {
    say('stopping');
    await cluster.stop();
    say(options.keep === undefined ? 'stopped; all data is removed' : `stopped; the data is in ${options.keep}`);
  }
}

async function main(): Promise<void> {
  let options: Options | undefined;
  try {
    options = readOptions(process.argv.slice(2));
  } catch (error) {
    stderr.write(`cluster: ${reasonOf(error)}\n\n${HELP}`);
    process.exitCode = STATUS_USAGE;
    return;
  }
  if (options === undefined) {
    stdout.write(HELP);
    return;
  }
  try {
    await run(options);
  } catch (error) {
    const isInterrupted = error instanceof Error && error.name === 'AbortError';
    if (!isInterrupted) say(error instanceof ClusterRefusal ? error.message : reasonOf(error));
    process.exitCode = isInterrupted ? SIGNAL_EXIT_CODES.SIGINT : STATUS_FAILED;
  }
  // Standard input may stay open for as long as the terminal.
  process.stdin.destroy();
}

await main();
