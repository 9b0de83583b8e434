// What the comparison measures: one task at a time, on every system that can do it.

import { isModelShape, type Operation, type Protocol, type Shape } from './load-job.ts';
import type { Channel, System } from './systems/system.ts';

export interface Task {
  readonly operation: Exclude<Operation, 'load'>;
  readonly shape?: Shape;
  /** Requests in flight at a time. */
  readonly workers: number;
  /** No question is asked twice, so no cache has the answer. */
  readonly everNew?: boolean;
  /** Changes in each call, if the task always has that many. */
  readonly perCall?: number;
  /** The same rates for every system, instead of as much as each can do. */
  readonly equalLoads?: boolean;
}

/**
 * Enough workers to keep every system here busy; fewer for tasks whose requests cost more. At equal loads, more than a
 * system has in flight that bears its load, so that a due request finds a free connection.
 */
export const TASKS = {
  wide: { operation: 'check', shape: 'wide', workers: 64 },
  deep: { operation: 'check', shape: 'deep', workers: 64 },
  new: { operation: 'check', shape: 'wide', workers: 64, everNew: true },
  'equal-loads': { operation: 'check', shape: 'wide', workers: 256, equalLoads: true },
  batch: { operation: 'batch', shape: 'wide', workers: 8 },
  filter: { operation: 'batch', shape: 'deep', workers: 8 },
  list: { operation: 'list', workers: 16 },
  subjects: { operation: 'subjects', workers: 16 },
  write: { operation: 'write', workers: 64 },
  'bulk-write': { operation: 'write', workers: 8, perCall: 100 },
  ruled: { operation: 'check', shape: 'ruled', workers: 64 },
  'ruled-new': { operation: 'check', shape: 'ruled', workers: 64, everNew: true },
  'ruled-list': { operation: 'list', shape: 'ruled', workers: 4 },
  'ruled-subjects': { operation: 'subjects', shape: 'ruled', workers: 4 },
  gated: { operation: 'check', shape: 'gated', workers: 64 },
  'gated-new': { operation: 'check', shape: 'gated', workers: 64, everNew: true },
  'gated-list': { operation: 'list', shape: 'gated', workers: 4 },
  conditional: { operation: 'check', shape: 'conditional', workers: 64 },
  'conditional-new': { operation: 'check', shape: 'conditional', workers: 64, everNew: true },
} satisfies Readonly<Record<string, Task>>;
export type TaskName = keyof typeof TASKS;

export const TASK_NAMES = Object.keys(TASKS) as readonly TaskName[];
/** By its interface; the names of TASKS have types of their own. */
export const taskOf = (name: TaskName): Task => TASKS[name];

/** What a model decides has grants of its own. */
const channelsOf = ({ channels, modelled }: System, { shape }: Task): readonly Channel[] =>
  isModelShape(shape) ? (modelled?.[shape].channels ?? []) : channels;

function canDo(system: System, { operation }: Task): boolean {
  switch (operation) {
    case 'check':
      return true;
    case 'batch':
      return system.batches.length > 0;
    case 'list':
    case 'subjects':
      return system.lists;
    case 'write':
      return system.durable;
  }
}

/** A system as a task asks it, by one protocol. */
export interface Asked {
  readonly system: System;
  readonly channel: Channel;
  /** Checks or changes in one call, if the task has several. */
  readonly batch?: number;
}

export function listAsked(systems: readonly System[], task: Task, batchMax: number): readonly Asked[] {
  return systems
    .filter((system) => canDo(system, task))
    .flatMap((system) => channelsOf(system, task).map((channel): Asked => ({ system, channel })))
    .flatMap((asked) => {
      if (task.perCall !== undefined) return [{ ...asked, batch: task.perCall }];
      if (task.operation !== 'batch') return [asked];
      return asked.system.batches.filter((size) => size <= batchMax).map((batch) => ({ ...asked, batch }));
    });
}

export const describeAsked = (system: string, protocol: Protocol, batch?: number): string =>
  `${system}, ${protocol}${batch === undefined ? '' : `, ${batch} at a time`}`;
