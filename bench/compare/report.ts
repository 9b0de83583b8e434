// The results of the comparison as tables for people.

import Table from 'cli-table3';
import { renderFigures, renderMachine } from '../report.ts';
import type { LoadRow } from './equal-loads.ts';
import { medianOf, type Round, type Series } from './measurement.ts';
import type { Part, SystemRecord } from './results.ts';
import { compareWithPeers } from './targets.ts';
import { TASK_NAMES, type TaskName, taskOf } from './tasks.ts';
import { judgeRounds, type LoadRound, medianOfRounds } from './verdict.ts';

const TITLES: Readonly<Record<TaskName, string>> = {
  wide: 'Single checks: many subjects with 10 objects each, 100 subjects on each object. Half hits, half misses',
  deep: 'Single checks: few subjects with 1,000 objects each, 2 subjects on each object. Half hits, half misses',
  new: 'Single checks that were never asked before: many subjects. Half hits, half misses',
  'equal-loads': 'Single checks of many subjects at the same load; latencies from the moment a check was due',
  batch: 'Checks in batches, of many subjects; every figure is per check, except the latencies, which are per batch',
  filter: 'Checks in batches, each about one subject; figures as before',
  list: 'Listing the 1,000 objects of a subject',
  subjects: 'Listing the 1,000 subjects of an object',
  write: 'Durable writes of one new grant each',
  'bulk-write': 'Durable writes of 100 new grants each; every figure is per grant, except the latencies',
  ruled: 'Single checks by rules, through a group and three folders. Half hits, half misses',
  'ruled-new': 'The same, never asked before',
  'ruled-list': 'Listing the 1,000 objects that a subject holds through ten groups and ten folders',
  'ruled-subjects': 'Listing the 1,000 subjects that hold an object through ten groups and two folders',
  gated: 'Single checks through "and" and "but not", in turn, of groups. Half hits, half misses',
  'gated-new': 'The same, never asked before',
  'gated-list': 'Listing the 1,000 of 10,000 objects that a subject holds through "and"',
  conditional: 'Single checks of grants with a condition, each with three values. Half hits, half misses',
  'conditional-new': 'The same, with other values each time',
};
const MIB = 1024 ** 2;
const REASON_LENGTH_MAX = 120;

const rounded = (value: number): string =>
  value.toLocaleString('en-US', { maximumSignificantDigits: 3, maximumFractionDigits: value >= 100 ? 0 : 2 });
const inMillis = (value: number): string => value.toFixed(value < 10 ? 2 : 0);
const inPercent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const grouped = (count: number): string => count.toLocaleString('en-US');

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

function renderSeries(name: TaskName, series: readonly Series[]): string {
  const withHalf = taskOf(name).operation === 'check';
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
  for (const { system, protocol, batch, saturated, half, dropped } of series) {
    const of = (pick: (round: Round) => number, render: (value: number) => string, rounds = saturated): string =>
      rounds.length === 0 ? '-' : render(medianOf(rounds, pick));
    table.push([
      `${system}${batch === undefined ? '' : `, ${batch}`}`,
      protocol,
      of((round) => round.perSecond, rounded),
      of((round) => round.cpuMicros, rounded),
      ...(withHalf ? [of((round) => round.p50Ms, inMillis, half), of((round) => round.p99Ms, inMillis, half)] : []),
      of((round) => round.p50Ms, inMillis),
      of((round) => round.p99Ms, inMillis),
      of((round) => round.memoryBytes / MIB, rounded),
      of((round) => round.loadMicros, rounded),
      `${spread(saturated, (round) => round.cpuMicros)}${dropped === undefined ? '' : ` (${dropped.slice(0, REASON_LENGTH_MAX)})`}`,
    ]);
  }
  return table.toString();
}

/** What a row says instead of figures. */
function describeVerdict({ rounds, dropped }: LoadRow, planned: number): string {
  if (dropped !== undefined) return dropped.slice(0, REASON_LENGTH_MAX);
  const { kind, counting } = judgeRounds(rounds, planned);
  if (kind === 'borne') {
    return `borne${counting.length < rounds.length ? `, in ${counting.length} of ${rounds.length} rounds` : ''}`;
  }
  const reached = `${grouped(Math.round(medianOfRounds(rounds, (round) => round.perSecond)))} /s answered`;
  if (kind === 'not borne') {
    const onTime = medianOfRounds(rounds, (round) => round.onTimeShare);
    const failed = rounds.find((round) => round.firstFailed !== undefined)?.firstFailed;
    return `not borne: ${reached}, ${inPercent(onTime)} in time${failed === undefined ? '' : `; ${failed.slice(0, 60)}`}`;
  }
  const late = rounds.filter(({ isPunctual }) => !isPunctual);
  if (late.length === 0) return 'unreliable: the load took nearly a whole processor';
  return `unreliable: the load was late by ${inMillis(medianOfRounds(late, (round) => round.lateP99Ms))} ms (p99)`;
}

function renderLoads(rows: readonly LoadRow[], planned: number): string {
  const table = createTable([
    'system',
    'by',
    'due /s',
    'p50 ms',
    'p99 ms',
    'p99.9 ms',
    'CPU µs',
    "load's CPU",
    "load's lateness p50, p99 ms",
    'verdict',
  ]);
  for (const row of rows) {
    const { counting } = judgeRounds(row.rounds, planned);
    const isBorne = judgeRounds(row.rounds, planned).kind === 'borne';
    const of = (pick: (round: LoadRound) => number, render: (value: number) => string): string =>
      isBorne && row.dropped === undefined ? render(medianOfRounds(counting, pick)) : '-';
    const ofAll = (pick: (round: LoadRound) => number, render: (value: number) => string): string =>
      row.rounds.length === 0 ? '-' : render(medianOfRounds(row.rounds, pick));
    table.push([
      row.system,
      row.protocol,
      grouped(row.rate),
      of((round) => round.p50Ms, inMillis),
      of((round) => round.p99Ms, inMillis),
      of((round) => round.p999Ms, inMillis),
      of((round) => round.cpuMicros, rounded),
      ofAll((round) => round.loadShare, inPercent),
      `${ofAll((round) => round.lateP50Ms, inMillis)}, ${ofAll((round) => round.lateP99Ms, inMillis)}`,
      describeVerdict(row, planned),
    ]);
  }
  return table.toString();
}

function renderLoaded(grants: number, systems: readonly SystemRecord[]): string {
  const table = createTable(['system', 'grants/s', 'MiB', '']);
  for (const { name, bulkSeconds, out, memoryBytes } of systems) {
    table.push([
      name,
      bulkSeconds === undefined ? '-' : rounded(grants / bulkSeconds),
      memoryBytes === undefined ? '-' : rounded(memoryBytes / MIB),
      out === undefined ? '' : `out: ${out.slice(0, 200)}`,
    ]);
  }
  return `\nBulk load:\n${table.toString()}\n`;
}

function renderPart({ setup, machine, series, loads }: Part): string {
  const { task, rounds, quick, isRealTime = false } = setup;
  const priority = isRealTime ? 'The load had real-time priority. ' : '';
  const how = `${quick ? 'Quick: its figures are hints. ' : ''}Rounds: ${rounds}. ${priority}${renderMachine(machine)}`;
  const table = taskOf(task).equalLoads === true ? renderLoads(loads, rounds) : renderSeries(task, series);
  return `\n${TITLES[task]}:\n${how}${table}\n`;
}

/** The last part of each task, with this number of grants. */
function renderSize(grants: number, parts: readonly Part[]): string {
  const last = TASK_NAMES.flatMap((name) => parts.findLast(({ setup }) => setup.task === name) ?? []);
  const compared = Object.fromEntries(last.map(({ setup, series }) => [setup.task, series]));
  const figures = compareWithPeers(compared);
  return [
    `\n== ${grouped(grants)} grants\n`,
    renderLoaded(grants, parts.at(-1)?.systems ?? []),
    ...last.map(renderPart),
    figures.length === 0
      ? ''
      : `\nAgainst the peers, the better of their stores and protocols each time, by the medians of the rounds:\n${renderFigures(figures)}`,
  ].join('');
}

/** Of every task with every number of grants, what was measured last. */
export function renderResults(parts: readonly Part[]): string {
  const sizes = [...Map.groupBy(parts, ({ setup }) => setup.grants)].toSorted(([left], [right]) => left - right);
  return sizes.map(([grants, its]) => renderSize(grants, its)).join('');
}
