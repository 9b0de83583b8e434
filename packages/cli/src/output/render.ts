// Tables for people. Programs use JSON.

import Table from 'cli-table3';
import { isJsonObject } from '../../../../src/core/json-members.ts';
import type { JsonRecord } from './json-view.ts';
import { escapeInLine } from './plain-text.ts';

const PLAIN = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
} as const;

/** A head, and the field to show or a function that renders the cell. */
export type Column = readonly [head: string, field: string | ((record: JsonRecord) => string)];

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (Array.isArray(value)) return value.map(cellOf).join(',');
  return escapeInLine(typeof value === 'object' ? JSON.stringify(value) : String(value));
}

const trimEnds = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');

const GAP = PLAIN.middle.length;
/** A narrower column is unreadable; instead, the line may become longer than the terminal. */
const COLUMN_WIDTH_MIN = 8;

const ID = /^[a-z]{3}_[0-9a-hjkmnp-tv-z]{26}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/;
/** Patterns of cells that are kept whole as long as possible: a cut id cannot be copied. */
const KEPT: readonly (readonly RegExp[])[] = [[ID, TIME], [ID], []];

/** The column widths with which a line fits, taken only from the widest columns; undefined if it already fits. */
function fittingWidths(rows: readonly (readonly string[])[], width: number): number[] | undefined {
  const columns = (rows[0] ?? []).map((_, column) => rows.map((row) => row[column] ?? ''));
  const natural = columns.map((cells) => cells.reduce((widest, cell) => Math.max(widest, [...cell].length), 0));
  const room = width - GAP * (natural.length - 1);
  const sum = (widths: readonly number[]): number => widths.reduce((total, each) => total + each, 0);
  if (sum(natural) <= room) return undefined;
  let widths = natural;
  for (const kept of KEPT) {
    const least = columns.map((cells, column) => {
      const whole = cells.some((cell) => kept.some((form) => form.test(cell)));
      return Math.min(natural[column] ?? 0, whole ? Number.POSITIVE_INFINITY : COLUMN_WIDTH_MIN);
    });
    widths = [...natural];
    while (sum(widths) > room) {
      // The widest column that can still shrink.
      const spare = widths.map((each, column) => (each > (least[column] ?? 0) ? each : 0));
      const widest = Math.max(...spare);
      if (widest === 0) break;
      widths[spare.indexOf(widest)] = widest - 1;
    }
    if (sum(widths) <= room) break;
  }
  return widths;
}

/** `width`: of the terminal; longer cells end with `…`. Without it nothing is cut. */
export function renderTable(records: readonly JsonRecord[], columns: readonly Column[], width?: number): string {
  const head = columns.map(([name]) => name.toUpperCase());
  const rows = records.map((record) =>
    columns.map(([, field]) => (typeof field === 'string' ? cellOf(record[field]) : escapeInLine(field(record)))),
  );
  const widths = width === undefined ? undefined : fittingWidths([head, ...rows], width);
  const table = new Table({
    head,
    ...(widths === undefined ? {} : { colWidths: widths }),
    chars: PLAIN,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
  });
  table.push(...rows.map((row) => [...row]));
  return trimEnds(table.toString());
}

/** Nested fields have both names: `bounds.keys_max`. */
function flatFields(record: JsonRecord): readonly (readonly [string, unknown])[] {
  return Object.entries(record).flatMap(([name, value]) =>
    isJsonObject(value)
      ? Object.entries(value).map(([inner, part]) => [`${name}.${inner}`, part] as const)
      : [[name, value] as const],
  );
}

/** One record, a field per line. */
export function renderRecord(record: JsonRecord): string {
  const fields = flatFields(record);
  const width = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${cellOf(value)}`).join('\n');
}

export function renderJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}

/** 1,234,567 */
export function formatCount(count: number): string {
  return Math.round(count).toLocaleString('en');
}
