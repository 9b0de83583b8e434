// Reads JSON that came over the wire: a value of an unexpected type is a failure at once, not an undefined further on.

import { CliFailure } from '../failures.ts';

export type JsonRecord = Readonly<Record<string, unknown>>;

const unexpected = (what: string): CliFailure =>
  new CliFailure(`Unexpected response from the service: ${what}. Is its version compatible with this command?`);

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unexpected('a body that is not JSON');
  }
}

export function asRecord(value: unknown): JsonRecord {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unexpected('not a JSON object');
  return Object.fromEntries(Object.entries(value));
}

function arrayOf(record: JsonRecord, name: string): readonly unknown[] {
  const value = record[name];
  if (!Array.isArray(value)) throw unexpected(`no array "${name}"`);
  return value;
}

export function recordsOf(record: JsonRecord, name: string): readonly JsonRecord[] {
  return arrayOf(record, name).map(asRecord);
}

/** Objects, or strings as they are. */
export function itemsOf(record: JsonRecord, name: string): readonly (JsonRecord | string)[] {
  return arrayOf(record, name).map((item) => (typeof item === 'string' ? item : asRecord(item)));
}

export function textOf(record: JsonRecord, name: string): string {
  const value = record[name];
  if (typeof value !== 'string') throw unexpected(`no text "${name}"`);
  return value;
}

/** Undefined for null and for a missing field. */
export function optionalTextOf(record: JsonRecord, name: string): string | undefined {
  return record[name] === null || record[name] === undefined ? undefined : textOf(record, name);
}

/** Its name, and its context if it has one; undefined for a grant without a condition. */
export function textOfCondition({ condition }: JsonRecord): string | undefined {
  if (condition === undefined || condition === null) return undefined;
  const { name, context } = asRecord(condition);
  return context === undefined ? String(name) : `${name} ${JSON.stringify(context)}`;
}
