// The figures for people: a table per scenario, and the machine they belong to.

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

export function renderFigures(figures: readonly Figure[]): string {
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
