// `npm run compare`: grantd and its peers side by side on this machine. It builds and starts all of them, writes the
// same grants to each, runs the same load on each in turn, and prints the results. It ends every process that it
// started, and leaves only the built programs and the results behind.

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { describeMachine } from '../report.ts';
import { Comparison, type ComparisonOptions } from './comparison.ts';
import { LoadProgram } from './load-program.ts';
import { renderResults } from './report.ts';
import { ResultsFile, type Setup } from './results.ts';
import { SYSTEM_NAMES, type SystemName } from './starters.ts';
import { TASK_NAMES, type TaskName, taskOf } from './tasks.ts';
import { installTool } from './tools.ts';
import type { Pace } from './turns.ts';

const PACE: Pace = {
  rounds: 5,
  warmUpSeconds: 1,
  seconds: 4,
  firstSeconds: 900,
  heatSeconds: 4,
  batchMax: 10_000,
};
const PACE_QUICK: Pace = {
  rounds: 2,
  warmUpSeconds: 0.5,
  seconds: 1.5,
  firstSeconds: 300,
  heatSeconds: 2,
  batchMax: 1000,
};
const GRANTS = [100_000, 1_000_000];
const GRANTS_QUICK = [100_000];
const RATES = [1000, 2000, 5000, 10_000];
const RATE_MAX = 100_000;
const BULK_SECONDS_MAX = 900;
const BULK_SECONDS_MAX_QUICK = 150;
/** The others need minutes before anything can be measured. */
const QUICK_SYSTEMS: readonly SystemName[] = [
  'grantd',
  'echo',
  'openfga-sqlite',
  'openfga-postgres',
  'spicedb-postgres',
];

interface Options {
  readonly quick: boolean;
  readonly only?: readonly TaskName[];
  readonly systems?: readonly SystemName[];
  readonly grants?: readonly number[];
  readonly rates: readonly number[];
  readonly rounds?: number;
  readonly results?: string;
  readonly again: boolean;
  readonly report: boolean;
}

const startMs = performance.now();
let isInterrupted = false;
/**
 * Called before every step: an interrupted run starts no further step, and reports nothing about systems that are
 * shutting down.
 */
function progress(text: string): void {
  if (isInterrupted) throw new Error('Interrupted: the results have the tasks that were done.');
  process.stderr.write(`${((performance.now() - startMs) / 1000).toFixed(0).padStart(5)} s  ${text}\n`);
}

function parseRounds(text: string): number {
  const rounds = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (rounds < 1) throw new InvalidArgumentError('It must be a number from 1 to 99.');
  return rounds;
}

/** The shapes of the data need a multiple of 20,000. */
function parseGrants(text: string, before: readonly number[] | undefined): readonly number[] {
  const grants = /^\d{5,8}$/.test(text) ? Number(text) : 0;
  if (grants === 0 || grants % 20_000 !== 0) throw new InvalidArgumentError('It must be a multiple of 20,000.');
  return [...(before ?? []), grants];
}

function parseRate(text: string, before: readonly number[] | undefined): readonly number[] {
  const rate = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (rate < 1 || rate > RATE_MAX) throw new InvalidArgumentError(`It must be a number from 1 to ${RATE_MAX}.`);
  return [...(before === RATES ? [] : (before ?? [])), rate];
}

function createComparison(
  { quick, systems, rounds, rates }: Options,
  load: LoadProgram,
): [Comparison, ComparisonOptions] {
  const options: ComparisonOptions = {
    systems: SYSTEM_NAMES.filter((name) => (systems ?? (quick ? QUICK_SYSTEMS : SYSTEM_NAMES)).includes(name)),
    pace: { ...(quick ? PACE_QUICK : PACE), ...(rounds === undefined ? {} : { rounds }) },
    rates: [...new Set(rates)].toSorted((left, right) => left - right),
    bulkSecondsMax: quick ? BULK_SECONDS_MAX_QUICK : BULK_SECONDS_MAX,
    progress,
  };
  return [new Comparison(load, options), options];
}

async function measure(options: Options, results: ResultsFile): Promise<void> {
  const path = installTool('load');
  if (path === undefined) throw new Error('The load program cannot be built.');
  const load = new LoadProgram(path);
  const [comparison, { systems, pace, rates }] = createComparison(options, load);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      process.stderr.write(`${signal}: ending the started processes\n`);
      isInterrupted = true;
      void comparison.end();
    });
  }
  progress(`the results go to ${results.path}`);
  const { quick, only = TASK_NAMES, again } = options;
  try {
    for (const grants of options.grants ?? (quick ? GRANTS_QUICK : GRANTS)) {
      const setupOf = (task: TaskName): Setup => ({
        ...{ task, grants, quick, rounds: pace.rounds, systems },
        ...(taskOf(task).equalLoads === true ? { rates, isRealTime: load.isRealTime } : {}),
      });
      const missing = TASK_NAMES.filter(
        (task) => only.includes(task) && (again || !results.has(setupOf(task), describeMachine())),
      );
      if (missing.length === 0) progress(`${grants} grants: ${results.path} has every task`);
      else {
        await comparison.measure(grants, missing, (task, found) => {
          // After an interruption, these are the figures of systems that were shutting down.
          progress(`${task}: done`);
          results.add({ setup: setupOf(task), machine: describeMachine(), ...found });
        });
      }
    }
  } finally {
    await comparison.end();
  }
}

async function run(options: Options): Promise<void> {
  const date = new Date().toISOString().replace(/[:.]/g, '-');
  const results = new ResultsFile(options.results ?? join(tmpdir(), `grantd-compare-${date}.json`));
  if (!options.report) await measure(options, results);
  process.stdout.write(`${renderResults(results.parts)}\nEvery round is in ${results.path}\n`);
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${messageOf(error.cause)}`;
}

const program = new Command('compare')
  .description(
    'Compares grantd with OpenFGA and SpiceDB on this machine: the same grants and the same load, in turns, in one run.',
  )
  .option('--quick', 'fewer grants, shorter rounds: rough figures', false)
  .addOption(new Option('--only <task...>', 'what to measure; all by default').choices(TASK_NAMES))
  .addOption(new Option('--systems <system...>', 'the systems to measure').choices(SYSTEM_NAMES))
  .option('--grants <number>', `may be repeated (default: ${GRANTS.join(' and ')})`, parseGrants)
  .addOption(
    new Option('--rates <number...>', 'of equal-loads: checks a second')
      .argParser(parseRate)
      .default(RATES, RATES.join(' ')),
  )
  .option('--rounds <number>', `rounds of each measurement (default: ${PACE.rounds})`, parseRounds)
  .option(
    '--results <file>',
    'what it has is not measured again; each task is added when it is done (default: a new file)',
  )
  .option('--again', 'measures also what the file has', false)
  .option('--report', 'measures nothing: only prints what the file has', false)
  .action(run);

try {
  await program.parseAsync(process.argv);
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
}
