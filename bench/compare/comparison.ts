// One number of grants: starts the systems, writes the grants to each, measures the tasks, and ends every process that
// it started.

import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeDirectory } from '../server/grantd-process.ts';
import { EqualLoads } from './equal-loads.ts';
import { type LoadResult, MODEL_SHAPES, type ModelShape } from './load-job.ts';
import { type LoadProgram, NoAnswer } from './load-program.ts';
import { Measurement } from './measurement.ts';
import type { Part, SystemRecord } from './results.ts';
import { createStarters, type SystemName } from './starters.ts';
import type { BulkLoad, System, SystemContext } from './systems/system.ts';
import { type TaskName, taskOf } from './tasks.ts';
import type { MeasureContext, Pace } from './turns.ts';

/** More than any measurement writes. */
const NEW_GRANTS_PER_JOB = 1_000_000;

export interface ComparisonOptions {
  readonly systems: readonly SystemName[];
  readonly pace: Pace;
  /** Of equal loads. */
  readonly rates: readonly number[];
  /** A store that takes longer to load the grants is not measured with that many. */
  readonly bulkSecondsMax: number;
  progress(text: string): void;
}

export class Comparison {
  readonly #program: LoadProgram;
  readonly #options: ComparisonOptions;
  readonly #context: SystemContext;
  readonly #directories: string[] = [];
  #running: System[] = [];
  #newGrants = 0;
  #ended: Promise<void> | undefined;

  constructor(load: LoadProgram, options: ComparisonOptions) {
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

  /** Reports each task as soon as it is measured. */
  async measure(
    grants: number,
    tasks: readonly TaskName[],
    onTask: (task: TaskName, part: Pick<Part, 'systems' | 'series' | 'loads'>) => void,
  ): Promise<void> {
    const { pace, rates, progress } = this.#options;
    const shapes = MODEL_SHAPES.filter((shape) => tasks.some((name) => taskOf(name).shape === shape));
    const systems = await this.#start(grants, shapes);
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
    for (const name of tasks) {
      const isEqual = taskOf(name).equalLoads === true;
      const series = isEqual ? [] : await new Measurement(context, name, this.#running).run();
      const loads = isEqual ? await new EqualLoads(context, name, this.#running, rates).run() : [];
      onTask(name, { systems, series, loads });
    }
    progress('ending the started processes');
    await this.#stop(...this.#running);
  }

  async #start(grants: number, shapes: readonly ModelShape[]): Promise<readonly SystemRecord[]> {
    const { systems, progress } = this.#options;
    const starters = createStarters(this.#context);
    const records: SystemRecord[] = [];
    for (const name of systems) {
      progress(`${name}: starting`);
      const system = await starters[name]();
      if (system === undefined) {
        progress(`${name} is skipped: this machine lacks something that it needs`);
        continue;
      }
      this.#running.push(system);
      const record = await this.#fill(system, grants, shapes);
      if (record.out !== undefined) {
        progress(`${system.name} is out: ${record.out}`);
        await this.#stop(system);
      }
      records.push(record);
    }
    return records;
  }

  /** Loads the grants with the system's own bulk write, within its time limit. */
  async #fill(system: System, grants: number, shapes: readonly ModelShape[]): Promise<SystemRecord> {
    const { name, version, settings, bulk, modelled, grantsMax = grants } = system;
    const record = { name, version, settings };
    if (bulk === undefined) return record;
    if (grants > grantsMax) return { ...record, out: `it is measured with at most ${grantsMax} grants` };
    try {
      const { seconds, memoryBytes } = await this.#load(system, grants, bulk);
      if (modelled !== undefined) {
        for (const shape of shapes) await this.#load(system, grants, modelled[shape].bulk, shape);
      }
      await system.settle();
      return { ...record, bulkSeconds: seconds, memoryBytes };
    } catch (error) {
      if (error instanceof NoAnswer) return { ...record, out: error.message };
      throw error;
    }
  }

  #load({ name, product, processes }: System, grants: number, bulk: BulkLoad, shape?: ModelShape): Promise<LoadResult> {
    const { progress, bulkSecondsMax } = this.#options;
    progress(`${name}: ${shape === undefined ? `${grants} grants` : `the grants of the shape ${shape}`}`);
    return this.#program.run({
      ...bulk,
      system: product,
      operation: 'load',
      grants,
      mode: 'once',
      seconds: bulkSecondsMax,
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
