// The results of the comparison: tables for people, everything for programs.

import Table from 'cli-table3';
import { type Machine, renderFigures } from '../report.ts';
import { medianOf, type Round, type Series, TASKS, type TaskName } from './measurement.ts';
import type { System } from './systems/system.ts';
import { compareWithPeers, type Results } from './targets.ts';

export interface Loaded {
  readonly system: System;
  /** Of the bulk write; without it, why the system is out. */
  readonly seconds?: number;
  readonly out?: string;
  readonly memoryBytes?: number;
}

/** The results with one number of grants. */
export interface SizeReport {
  readonly grants: number;
  readonly loaded: readonly Loaded[];
  readonly results: Results;
}

const TITLES: Readonly<Record<TaskName, string>> = {
  wide: 'Single checks: many subjects with 10 objects each, 100 subjects on each object. Half hits, half misses',
  deep: 'Single checks: few subjects with 1,000 objects each, 2 subjects on each object. Half hits, half misses',
  new: 'Single checks that were never asked before: many subjects. Half hits, half misses',
  batch: 'Checks in batches, of many subjects; every figure is per check, except the latencies, which are per batch',
  filter: 'Checks in batches, each about one subject; figures as before',
  list: 'Listing the 1,000 objects of a subject',
  subjects: 'Listing the 1,000 subjects of an object',
  write: 'Durable writes of one new grant each',
  ruled: 'Single checks by rules, through a group and three folders. Half hits, half misses',
  'ruled-new': 'The same, never asked before',
  'ruled-list': 'Listing the 1,000 objects that a subject holds through ten groups and ten folders',
  'ruled-subjects': 'Listing the 1,000 subjects that hold an object through ten groups and two folders',
};
const MIB = 1024 ** 2;

const rounded = (value: number): string =>
  value.toLocaleString('en-US', { maximumSignificantDigits: 3, maximumFractionDigits: value >= 100 ? 0 : 2 });
const inMillis = (value: number): string => value.toFixed(value < 10 ? 2 : 0);

function spread(rounds: readonly Round[], of: (round: Round) => number): string {
  return rounds.map((round) => rounded(of(round))).join(' ');
}

function createTable(head: readonly string[]): InstanceType<typeof Table> {
  return new Table({
    head: [...head],
    colAligns: head.map((_, index) => (index === 0 || index === head.length - 1 ? 'left' : 'right')),
    style: { head: [], border: [], compact: true },
  });
}

function renderTask(name: TaskName, series: readonly Series[]): string {
  const withHalf = TASKS[name].operation === 'check';
  const table = createTable([
    'system',
    'by',
    '/s',
    'CPU µs',
    ...(withHalf ? ['p50 ms at ½', 'p99 ms at ½'] : []),
    'p50 ms',
    'p99 ms',
    'MiB',
    "load's µs",
    'CPU µs of each round',
  ]);
  for (const { system, channel, batch, saturated, half, dropped } of series) {
    const of = (pick: (round: Round) => number, render: (value: number) => string, rounds = saturated): string =>
      rounds.length === 0 ? '-' : render(medianOf(rounds, pick));
    table.push([
      `${system.name}${batch === undefined ? '' : `, ${batch}`}`,
      channel.protocol,
      of((round) => round.perSecond, rounded),
      of((round) => round.cpuMicros, rounded),
      ...(withHalf ? [of((round) => round.p50Ms, inMillis, half), of((round) => round.p99Ms, inMillis, half)] : []),
      of((round) => round.p50Ms, inMillis),
      of((round) => round.p99Ms, inMillis),
      of((round) => round.memoryBytes / MIB, rounded),
      of((round) => round.loadMicros, rounded),
      `${spread(saturated, (round) => round.cpuMicros)}${dropped === undefined ? '' : ` (${dropped.slice(0, 120)})`}`,
    ]);
  }
  return `\n${TITLES[name]}:\n${table.toString()}\n`;
}

function renderLoaded(grants: number, loaded: readonly Loaded[]): string {
  const table = createTable(['system', 'grants/s', 'MiB', '']);
  for (const { system, seconds, out, memoryBytes } of loaded) {
    table.push([
      system.name,
      seconds === undefined ? '-' : rounded(grants / seconds),
      memoryBytes === undefined ? '-' : rounded(memoryBytes / MIB),
      out === undefined ? '' : `out: ${out.slice(0, 200)}`,
    ]);
  }
  return `\nBulk load:\n${table.toString()}\n`;
}

export function renderSize({ grants, loaded, results }: SizeReport): string {
  const tasks = Object.entries(results) as readonly (readonly [TaskName, readonly Series[]])[];
  return [
    `\n== ${grants.toLocaleString('en-US')} grants\n`,
    renderLoaded(grants, loaded),
    ...tasks.map(([name, series]) => renderTask(name, series)),
    `\nAgainst the peers, the better of their stores and protocols each time, by the medians of the rounds:\n`,
    renderFigures(compareWithPeers(results)),
  ].join('');
}

/** Without addresses and keys. */
export function toJson(machine: Machine, quick: boolean, sizes: readonly SizeReport[]): string {
  const described = sizes.map(({ grants, loaded, results }) => ({
    grants,
    systems: loaded.map(({ system, seconds, out, memoryBytes }) => ({
      name: system.name,
      version: system.version,
      settings: system.settings,
      bulkSeconds: seconds,
      memoryBytes,
      out,
    })),
    tasks: Object.fromEntries(
      Object.entries(results).map(([name, series]) => [
        name,
        series.map(({ system, channel, batch, saturated, half, dropped }) => ({
          system: system.name,
          protocol: channel.protocol,
          batch,
          saturated,
          half,
          dropped,
        })),
      ]),
    ),
    againstPeers: compareWithPeers(results),
  }));
  return `${JSON.stringify({ machine, quick, sizes: described }, undefined, 2)}\n`;
}
