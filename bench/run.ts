// `npm run bench`: the command line of the benchmarks. It runs the named scenarios, or all, one after another; prints
// the results; and leaves nothing behind.

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Argument, Command, InvalidArgumentError } from 'commander';
import { DataSet } from './data-set.ts';
import { type Figure, isReached } from './figure.ts';
import { LoadClient } from './load/load-client.ts';
import { describeMachine, renderFigures, renderMachine } from './report.ts';
import { type BenchContext, type LargeDirectory, MissingEngine, type Scenario } from './scenario.ts';
import { bulkScenario } from './scenarios/bulk.ts';
import { bulkWritesScenario } from './scenarios/bulk-writes.ts';
import { cassandraScenario } from './scenarios/cassandra.ts';
import { changesScenario } from './scenarios/changes.ts';
import { checkScenario } from './scenarios/check.ts';
import { clusterScenario } from './scenarios/cluster.ts';
import { coldScenario } from './scenarios/cold.ts';
import { crashScenario } from './scenarios/crash.ts';
import { expiryScenario } from './scenarios/expiry.ts';
import { failoverScenario } from './scenarios/failover.ts';
import { firstChecksScenario } from './scenarios/first-checks.ts';
import { grantsScenario } from './scenarios/grants.ts';
import { hopScenario } from './scenarios/hop.ts';
import { isolationScenario } from './scenarios/isolation.ts';
import { joinedListsScenario } from './scenarios/joined-lists.ts';
import { limitsScenario } from './scenarios/limits.ts';
import { listingsScenario } from './scenarios/listings.ts';
import { memoryScenario } from './scenarios/memory.ts';
import { modelScenario } from './scenarios/model.ts';
import { movesScenario } from './scenarios/moves.ts';
import { readersScenario } from './scenarios/readers.ts';
import { restartScenario } from './scenarios/restart.ts';
import { rulesScenario } from './scenarios/rules.ts';
import { stepsScenario } from './scenarios/steps.ts';
import { tenantsScenario } from './scenarios/tenants.ts';
import { threadsScenario } from './scenarios/threads.ts';
import { delay, GrantdProcess, LOG_TAIL_MS, removeDirectory } from './server/grantd-process.ts';
import { createTenant, importGrants, writeAfterRest } from './server/operator.ts';

const SCENARIOS: readonly Scenario[] = [
  checkScenario,
  threadsScenario,
  bulkScenario,
  grantsScenario,
  bulkWritesScenario,
  expiryScenario,
  changesScenario,
  listingsScenario,
  joinedListsScenario,
  rulesScenario,
  modelScenario,
  limitsScenario,
  memoryScenario,
  restartScenario,
  tenantsScenario,
  coldScenario,
  hopScenario,
  clusterScenario,
  readersScenario,
  failoverScenario,
  movesScenario,
  crashScenario,
  firstChecksScenario,
  cassandraScenario,
  isolationScenario,
  stepsScenario,
];
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const LARGE_GRANTS = 1_000_000;
const LARGE_GRANTS_QUICK = 100_000;
const ROUNDS_DEFAULT = 5;
const ROUNDS_QUICK = 2;
const NAME_WIDTH = 21;
const DURATION_MS = 3000;
const DURATION_MS_QUICK = 1000;

interface RunOptions {
  readonly rounds?: number;
  readonly quick: boolean;
  readonly only: readonly string[];
  readonly json?: string;
  readonly keep?: string;
}

function parseRounds(text: string): number {
  const rounds = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (rounds < 1) throw new InvalidArgumentError('It must be a number from 1 to 99.');
  return rounds;
}

const collect = (part: string, parts: readonly string[]): readonly string[] => [...parts, part];

async function importLarge(context: BenchContext): Promise<LargeDirectory> {
  const directory = context.createDirectory();
  const data = new DataSet(context.quick ? LARGE_GRANTS_QUICK : LARGE_GRANTS);
  const service = await GrantdProcess.start({ directory, searchPath: context.searchPath });
  try {
    const { addresses } = service;
    const access = await createTenant(addresses);
    context.progress(`importing ${data.grants} grants`);
    const importSeconds = await importGrants(addresses, access, data);
    await service.waitForCheckpoint();
    context.progress('waiting until the log is idle');
    await delay(LOG_TAIL_MS);
    await writeAfterRest(addresses, [access]);
    await service.waitForCheckpoint();
    return { ...access, directory, data, importSeconds };
  } finally {
    await service.stop();
  }
}

/** Undefined if the machine lacks what it needs: an error only if it was named. */
async function runScenario(
  scenario: Scenario,
  context: BenchContext,
  isNamed: boolean,
): Promise<readonly Figure[] | undefined> {
  try {
    return await scenario.run(context);
  } catch (error) {
    if (isNamed || !(error instanceof MissingEngine)) throw error;
    return undefined;
  }
}

/** Otherwise a misspelt part would run nothing. */
function requirePartsOf(scenarios: readonly Scenario[], only: readonly string[]): void {
  const known = scenarios.flatMap(({ parts = [] }) => parts.map(({ name }) => name));
  const unknown = only.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`No scenario of this run has a part named ${unknown.join(', ')}.`);
}

const describe = (things: readonly { readonly name: string; readonly summary: string }[]): string =>
  things.map(({ name, summary }) => `  ${name.padEnd(NAME_WIDTH)}${summary}`).join('\n');

async function run(names: readonly string[], { rounds, quick, only, json, keep }: RunOptions): Promise<void> {
  const { env, stdout, stderr } = process;
  const scenarios = SCENARIOS.filter(({ name }) => names.length === 0 || names.includes(name));
  requirePartsOf(scenarios, only);
  const machine = describeMachine();
  const found: Record<string, readonly Figure[]> = {};
  const directories: string[] = [];
  const removeDirectories = (): void => {
    for (const directory of directories.splice(0)) removeDirectory(directory);
  };
  // Gigabytes each, also where the run is ended from outside.
  process.once('exit', removeDirectories);
  for (const signal of SIGNALS) process.once(signal, () => process.exit(128 + constants.signals[signal]));
  const client = new LoadClient();
  let large: Promise<LargeDirectory> | undefined;
  const contextOf = (scenario: string): BenchContext => ({
    client,
    quick,
    only,
    rounds: rounds ?? (quick ? ROUNDS_QUICK : ROUNDS_DEFAULT),
    durationMs: quick ? DURATION_MS_QUICK : DURATION_MS,
    searchPath: env.PATH ?? '',
    createDirectory() {
      const directory = mkdtempSync(join(tmpdir(), 'grantd-bench-'));
      directories.push(directory);
      return directory;
    },
    keepDirectory(name) {
      if (keep === undefined) return this.createDirectory();
      const directory = resolve(keep, name);
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      return directory;
    },
    readLargeDirectory() {
      large ??= importLarge(this);
      return large;
    },
    progress: (text) => stderr.write(`${scenario}: ${text}\n`),
  });
  stdout.write(renderMachine(machine));
  try {
    for (const scenario of scenarios) {
      const figures = await runScenario(scenario, contextOf(scenario.name), names.length > 0);
      if (figures === undefined) {
        stdout.write(`\n${scenario.name}: left out, since this machine lacks what it needs\n`);
        continue;
      }
      found[scenario.name] = figures;
      stdout.write(`\n${scenario.name}: ${scenario.summary}\n${renderFigures(figures)}`);
      const isMissed = figures.some((figure) => isReached(figure) === false);
      if (scenario.failsOnMiss === true && isMissed) process.exitCode = 1;
    }
  } finally {
    client.close();
    removeDirectories();
  }
  if (quick) stdout.write('\nA quick run: fewer grants, shorter rounds. Its figures are hints.\n');
  if (json !== undefined) {
    writeFileSync(json, `${JSON.stringify({ machine, quick, scenarios: found }, undefined, 2)}\n`);
  }
}

const program = new Command('bench')
  .description('Measures the performance promises. Every figure is a ratio within the run, or CPU time of the service.')
  .addArgument(new Argument('[scenarios...]', 'scenarios; all by default').choices(SCENARIOS.map(({ name }) => name)))
  .option('--rounds <number>', `measurements of each figure (default: ${ROUNDS_DEFAULT})`, parseRounds)
  .option('--only <part>', 'only that part of a scenario; may be repeated', collect, [])
  .option('--quick', 'fewer grants, shorter rounds: rough figures in a few minutes', false)
  .option(
    '--keep <folder>',
    'keep the tenants of the scenarios `tenants` and `cold` in this folder, and reuse those in it',
  )
  .option('--json <file>', 'also write machine and figures to this file')
  .addHelpText(
    'after',
    `\nScenarios:\n${describe(SCENARIOS)}\n\nParts of cluster:\n${describe(clusterScenario.parts ?? [])}\n\nParts of isolation:\n${describe(isolationScenario.parts ?? [])}\n\nThe parts of steps are the operations of the API.`,
  )
  .action(run);

try {
  await program.parseAsync(process.argv);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
