// Tables for people. Programs ask for JSON.

import Table from 'cli-table3';
import type { JsonRecord } from './json-view.ts';

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

/** A head and the field it shows, or how to make the cell. */
export type Column = readonly [head: string, field: string | ((record: JsonRecord) => string)];

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (Array.isArray(value)) return value.map(cellOf).join(',');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const trimEnds = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');

export function renderTable(records: readonly JsonRecord[], columns: readonly Column[]): string {
  const table = new Table({
    head: columns.map(([head]) => head.toUpperCase()),
    chars: PLAIN,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
  });
  for (const record of records) {
    table.push(columns.map(([, field]) => (typeof field === 'string' ? cellOf(record[field]) : field(record))));
  }
  return trimEnds(table.toString());
}

/** Fields of fields have both names: `bounds.keys_max`. */
function flatFields(record: JsonRecord): readonly (readonly [string, unknown])[] {
  return Object.entries(record).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
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
