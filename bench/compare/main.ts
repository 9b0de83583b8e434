// `npm run compare`: grantd and its peers side by side on this machine. It builds and starts all of them, writes the
// same grants to each, runs the same load on each in turn, and prints the results. It ends every process that it
// started, and leaves only the built programs behind.

import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { describeMachine, renderMachine } from '../report.ts';
import { removeDirectory } from '../server/grantd-process.ts';
import type { LoadResult, Shape } from './load-job.ts';
import { LoadProgram, NoAnswer } from './load-program.ts';
import {
  type MeasureContext,
  Measurement,
  type Pace,
  type Series,
  TASKS,
  type Task,
  type TaskName,
} from './measurement.ts';
import { type Loaded, renderSize, type SizeReport, toJson } from './report.ts';
import { createStarters, SYSTEM_NAMES, type SystemName } from './starters.ts';
import type { BulkLoad, System, SystemContext } from './systems/system.ts';
import { installTool } from './tools.ts';

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
  firstSeconds: 90,
  heatSeconds: 2,
  batchMax: 1000,
};
const GRANTS = [100_000, 1_000_000];
const GRANTS_QUICK = [100_000];
/** A store that takes longer to load the grants is not measured with that many. */
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
/** More than any measurement writes. */
const NEW_GRANTS_PER_JOB = 1_000_000;

const ALL_TASKS = Object.keys(TASKS) as readonly TaskName[];
const isRuled = ({ shape }: Task): boolean => shape === 'ruled';

interface Options {
  readonly quick: boolean;
  readonly only?: readonly TaskName[];
  readonly systems?: readonly SystemName[];
  readonly grants?: readonly number[];
  readonly rounds?: number;
  readonly json?: string;
}

const startMs = performance.now();
let isInterrupted = false;
/**
 * Called before every step: an interrupted run starts no further step, and reports nothing about systems that are
 * shutting down.
 */
function progress(text: string): void {
  if (isInterrupted) throw new Error('Interrupted: there are no results.');
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

class Comparison {
  readonly #program: LoadProgram;
  readonly #options: Options;
  readonly #context: SystemContext;
  readonly #directories: string[] = [];
  #running: System[] = [];
  #newGrants = 0;
  #ended: Promise<void> | undefined;

  constructor(load: LoadProgram, options: Options) {
    this.#program = load;
    this.#options = options;
    this.#context = {
      searchPath: process.env.PATH ?? '',
      createDirectory: () => {
        const directory = mkdtempSync(join(tmpdir(), 'grantd-compare-'));
        // A database runs as another user.
        chmodSync(directory, 0o711);
        this.#directories.push(directory);
        return directory;
      },
    };
  }

  async measure(grants: number): Promise<SizeReport> {
    const { quick, only, systems, rounds } = this.#options;
    const names = systems ?? (quick ? QUICK_SYSTEMS : SYSTEM_NAMES);
    const pace = { ...(quick ? PACE_QUICK : PACE), ...(rounds === undefined ? {} : { rounds }) };
    const starters = createStarters(this.#context);
    const loaded: Loaded[] = [];
    for (const name of names) {
      progress(`${name}: starting`);
      const system = await starters[name]();
      if (system === undefined) {
        progress(`${name} is skipped: this machine lacks something that it needs`);
        continue;
      }
      this.#running.push(system);
      const outcome = await this.#fill(system, grants);
      if (outcome.out !== undefined) {
        progress(`${system.name} is out: ${outcome.out}`);
        await this.#stop(system);
      }
      loaded.push(outcome);
    }
    const context: MeasureContext = {
      load: this.#program,
      grants,
      pace,
      takeNewGrants: () => {
        this.#newGrants += NEW_GRANTS_PER_JOB;
        return this.#newGrants;
      },
      progress,
    };
    const results: Partial<Record<TaskName, readonly Series[]>> = {};
    for (const [name, task] of Object.entries(TASKS) as readonly (readonly [TaskName, (typeof TASKS)[TaskName]])[]) {
      if (only !== undefined && !only.includes(name)) continue;
      results[name] = await new Measurement(context, task, this.#running).run();
    }
    progress('ending the started processes');
    await this.#stop(...this.#running);
    return { grants, loaded, results };
  }

  /** Loads the grants of the measured tasks with the system's own bulk write, within its time limit. */
  async #fill(system: System, grants: number): Promise<Loaded> {
    const { bulk, grantsMax = grants } = system;
    if (bulk === undefined) return { system };
    if (grants > grantsMax) return { system, out: `it is measured with at most ${grantsMax} grants` };
    try {
      const result = await this.#load(system, grants, bulk);
      const { only = ALL_TASKS } = this.#options;
      if (system.ruled !== undefined && only.some((name) => isRuled(TASKS[name])))
        await this.#load(system, grants, system.ruled.bulk, 'ruled');
      await system.settle();
      return { system, seconds: result.seconds, memoryBytes: result.memoryBytes };
    } catch (error) {
      if (error instanceof NoAnswer) return { system, out: error.message };
      throw error;
    }
  }

  #load({ name, product, processes }: System, grants: number, bulk: BulkLoad, shape?: Shape): Promise<LoadResult> {
    progress(`${name}: ${grants} grants${shape === undefined ? '' : ', of the questions about rules'}`);
    const seconds = this.#options.quick ? BULK_SECONDS_MAX_QUICK : BULK_SECONDS_MAX;
    return this.#program.run({
      ...bulk,
      system: product,
      operation: 'load',
      grants,
      mode: 'once',
      seconds,
      processes,
      ...(shape === undefined ? {} : { shape }),
    });
  }

  async #stop(...systems: readonly System[]): Promise<void> {
    this.#running = this.#running.filter((each) => !systems.includes(each));
    for (const system of systems) await system.stop();
  }

  /** Runs once, however often it is called. */
  end(): Promise<void> {
    this.#ended ??= this.#stop(...this.#running).then(() => {
      for (const directory of this.#directories) removeDirectory(directory);
    });
    return this.#ended;
  }
}

async function run(options: Options): Promise<void> {
  const path = installTool('load');
  if (path === undefined) throw new Error('The load program cannot be built.');
  const comparison = new Comparison(new LoadProgram(path), options);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      process.stderr.write(`${signal}: ending the started processes\n`);
      isInterrupted = true;
      void comparison.end();
    });
  }
  const machine = describeMachine();
  const sizes: SizeReport[] = [];
  process.stdout.write(renderMachine(machine));
  try {
    for (const grants of options.grants ?? (options.quick ? GRANTS_QUICK : GRANTS)) {
      const found = await comparison.measure(grants);
      sizes.push(found);
      process.stdout.write(renderSize(found));
    }
  } finally {
    await comparison.end();
  }
  if (options.quick) process.stdout.write('\nA quick run: short rounds, few of them. Its figures are hints.\n');
  const json = options.json ?? join(tmpdir(), `grantd-compare-${machine.date.replace(/[:.]/g, '-')}.json`);
  writeFileSync(json, toJson(machine, options.quick, sizes));
  process.stdout.write(`\nEvery round is in ${json}\n`);
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
  .addOption(new Option('--only <task...>', 'what to measure; all by default').choices(ALL_TASKS))
  .addOption(new Option('--systems <system...>', 'the systems to measure').choices(SYSTEM_NAMES))
  .option('--grants <number>', `may be repeated (default: ${GRANTS.join(' and ')})`, parseGrants)
  .option('--rounds <number>', `rounds of each measurement (default: ${PACE.rounds})`, parseRounds)
  .option('--json <file>', 'the file for every round (default: a new temporary file)')
  .action(run);

try {
  await program.parseAsync(process.argv);
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
}
