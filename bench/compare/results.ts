// The results of the comparison in one file, a part for each task: so a run can be interrupted and continued, and a
// long one be made of several short ones. No part is ever lost: each is added by replacing the file.

import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { Machine } from '../report.ts';
import type { LoadRow } from './equal-loads.ts';
import type { Series } from './measurement.ts';
import type { SystemName } from './starters.ts';
import type { TaskName } from './tasks.ts';

const FORMAT = 'grantd-compare-1';

/** How a task was measured. */
export interface Setup {
  readonly task: TaskName;
  readonly grants: number;
  readonly quick: boolean;
  readonly rounds: number;
  readonly systems: readonly SystemName[];
  /** Of equal loads only. */
  readonly rates?: readonly number[];
  /** Of equal loads only: whether the load had real-time priority. */
  readonly isRealTime?: boolean;
}

/** A system with its settings, and what became of its bulk write. */
export interface SystemRecord {
  readonly name: string;
  readonly version: string;
  readonly settings: readonly string[];
  readonly bulkSeconds?: number;
  readonly memoryBytes?: number;
  /** Why it was not measured. */
  readonly out?: string;
}

export interface Part {
  readonly setup: Setup;
  readonly machine: Machine;
  readonly systems: readonly SystemRecord[];
  /** Empty for equal loads. */
  readonly series: readonly Series[];
  /** Empty for all other tasks. */
  readonly loads: readonly LoadRow[];
}

const isSameMachine = (a: Machine, b: Machine): boolean => isDeepStrictEqual({ ...a, date: '' }, { ...b, date: '' });

function readParts(path: string): readonly Part[] {
  if (!existsSync(path)) return [];
  const found: { readonly format?: unknown; readonly parts?: readonly Part[] } = JSON.parse(readFileSync(path, 'utf8'));
  if (found.format !== FORMAT || found.parts === undefined) throw new Error(`${path} has no results of a comparison.`);
  return found.parts;
}

export class ResultsFile {
  readonly path: string;
  #parts: readonly Part[];

  /** Reads the file if it exists. */
  constructor(path: string) {
    this.path = path;
    this.#parts = readParts(path);
  }

  /** In the order in which they were measured. */
  get parts(): readonly Part[] {
    return this.#parts;
  }

  /** Whether the same was measured before, on the same machine. */
  has(setup: Setup, machine: Machine): boolean {
    return this.#parts.some((part) => isDeepStrictEqual(part.setup, setup) && isSameMachine(part.machine, machine));
  }

  add(part: Part): void {
    // As the file will give it back.
    const added: Part = JSON.parse(JSON.stringify(part));
    this.#parts = [...this.#parts, added];
    const beside = `${this.path}.new`;
    writeFileSync(beside, `${JSON.stringify({ format: FORMAT, parts: this.#parts }, undefined, 2)}\n`);
    renameSync(beside, this.path);
  }
}
