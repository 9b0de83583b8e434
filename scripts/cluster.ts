// `npm run cluster`: a whole cluster on this machine, as processes that may be killed. It prints where everything is
// and what to try, runs until it is interrupted, and leaves neither a process nor a file behind, unless it is told to
// keep its data.

import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { reasonOf } from '../src/cli/failures.ts';
import { startCheckLoop } from './cluster/check-loop.ts';
import { ClusterRefusal, LocalCluster } from './cluster/local-cluster.ts';
import { PARTS_MAX, PORT_DEFAULT, PORTS } from './cluster/ports.ts';
import { renderWalkThrough } from './cluster/walk-through.ts';

const STATUS_FAILED = 1;
const STATUS_USAGE = 2;
/** 128 + SIGINT, the convention of shells: interrupted before it was ready. */
const STATUS_INTERRUPTED = 130;

const HELP = `Usage: npm run cluster -- [options]

Starts Cassandra, shards, fronts and a console on this machine, with a demo tenant and a key.
Ctrl-C ends all of it and removes what it made; Enter starts again what was killed.

Options:
  --shards <number>  1 to ${PARTS_MAX} (default: 3)
  --fronts <number>  1 to ${PARTS_MAX} (default: 2)
  --checks           send checks all the time, and tell every second how many failed
  --keep <folder>    keep the data in this folder, and continue with it
  --port <port>      the first of ${PORTS} ports (default: ${PORT_DEFAULT})
  --help
`;

interface Options {
  readonly shards: number;
  readonly fronts: number;
  readonly port: number;
  readonly checks: boolean;
  readonly keep: string | undefined;
}

const { stdout, stderr } = process;
const say = (text: string): void => {
  stderr.write(`cluster: ${text}\n`);
};

function wholeNumber(option: string, text: string, min: number, max: number): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new RangeError(`--${option} must be a number from ${min} to ${max}.`);
}

/** Undefined: help was asked for. Throws if something is wrong. */
function readOptions(args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      shards: { type: 'string', default: '3' },
      fronts: { type: 'string', default: '2' },
      port: { type: 'string', default: String(PORT_DEFAULT) },
      checks: { type: 'boolean', default: false },
      keep: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  if (values.keep === '') throw new RangeError('--keep needs a folder.');
  return {
    shards: wholeNumber('shards', values.shards, 1, PARTS_MAX),
    fronts: wholeNumber('fronts', values.fronts, 1, PARTS_MAX),
    port: wholeNumber('port', values.port, 1024, 65_535 - PORTS),
    checks: values.checks,
    keep: values.keep,
  };
}

/** Resolves at the first interruption; a second one ends this process, and with it all others. */
function interrupted(): { readonly promise: Promise<void>; readonly signal: AbortSignal } {
  const controller = new AbortController();
  const promise = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        controller.abort();
        resolve();
      });
    }
  });
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
    say(options.keep === undefined ? 'everything has ended and is removed' : `ended; the data is in ${options.keep}`);
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
    process.exitCode = isInterrupted ? STATUS_INTERRUPTED : STATUS_FAILED;
  }
  // Standard input may stay open for as long as the terminal.
  process.stdin.destroy();
}

await main();
