// Prints the figures for people: a table per scenario, and the machine.

import { cpus, totalmem } from 'node:os';
import Table from 'cli-table3';
import { type Figure, isReached } from './figure.ts';

export interface Machine {
  readonly date: string;
  readonly node: string;
  readonly system: string;
  readonly processors: string;
  readonly memoryGib: number;
}

export function describeMachine(): Machine {
  const processors = cpus();
  return {
    date: new Date().toISOString(),
    node: process.version,
    system: `${process.platform} ${process.arch}`,
    processors: `${processors.length} × ${processors[0]?.model.trim() ?? 'unknown'}`,
    memoryGib: Math.round(totalmem() / 1024 ** 3),
  };
}

export function renderMachine({ date, node, system, processors, memoryGib }: Machine): string {
  return `${date}, Node ${node}, ${system}, ${processors}, ${memoryGib} GiB\n`;
}

function renderNumber(value: number): string {
  const digits = Math.abs(value) >= 1000 ? 0 : Math.abs(value) >= 100 ? 1 : 2;
  return value.toLocaleString('en-US', { maximumFractionDigits: digits, minimumFractionDigits: digits });
}

function renderVerdict(figure: Figure): string {
  const reached = isReached(figure);
  if (reached === undefined) return '';
  return reached ? 'reached' : 'MISSED';
}

function renderCell(figure: Figure | undefined): string {
  if (figure === undefined) return '';
  const value = Number.isInteger(figure.value) ? String(figure.value) : renderNumber(figure.value);
  return isReached(figure) === false ? `${value} > ${renderNumber(figure.target?.value ?? Number.NaN)}` : value;
}

/** One row per thing, one column per figure; a value that misses its target shows the target too. */
function renderRows(figures: readonly Figure[]): string {
  const columns = [...new Map(figures.map(({ name, unit }) => [name, unit]))];
  const table = new Table({
    head: ['', ...columns.map(([name, unit]) => (unit === '' ? name : `${name} (${unit})`)), ''],
    colAligns: ['left', ...columns.map((): 'right' => 'right'), 'left'],
    style: { head: [], border: [], compact: true },
  });
  for (const [row, its] of Map.groupBy(figures, (figure) => figure.row ?? '')) {
    const cells = columns.map(([name]) => renderCell(its.find((figure) => figure.name === name)));
    const verdicts = its.map(isReached).filter((reached) => reached !== undefined);
    table.push([row, ...cells, verdicts.length === 0 ? '' : verdicts.includes(false) ? 'MISSED' : 'reached']);
  }
  return `${table.toString()}\n`;
}

function renderList(figures: readonly Figure[]): string {
  const table = new Table({
    head: ['figure', 'value', 'unit', 'target', '', 'rounds'],
    colAligns: ['left', 'right', 'left', 'left', 'left', 'left'],
    style: { head: [], border: [], compact: true },
  });
  for (const figure of figures) {
    const { name, value, unit, target, rounds = [] } = figure;
    table.push([
      name,
      renderNumber(value),
      unit,
      target === undefined ? '' : `${target.kind === 'at most' ? '≤' : '≥'} ${target.value}`,
      renderVerdict(figure),
      rounds.map(renderNumber).join(' '),
    ]);
  }
  return `${table.toString()}\n`;
}

export function renderFigures(figures: readonly Figure[]): string {
  const inRows = figures.filter(({ row }) => row !== undefined);
  const alone = figures.filter(({ row }) => row === undefined);
  return `${alone.length === 0 ? '' : renderList(alone)}${inRows.length === 0 ? '' : renderRows(inRows)}`;
}
