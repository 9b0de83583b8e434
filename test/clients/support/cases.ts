// The cases of the clients' contract, read from clients/contract/cases, with their abbreviations written out.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fault } from './fault-proxy.ts';

const CASES = join(import.meta.dirname, '..', '..', '..', 'clients', 'contract', 'cases');

export interface Step {
  readonly call: string;
  readonly expect: Readonly<Record<string, unknown>>;
}

export type CountRange = number | { readonly min?: number; readonly max?: number };

export interface ExpectedRequests {
  readonly method: string;
  readonly path: string;
  readonly seen: CountRange;
  readonly reached?: CountRange;
  /** Of each of them, by names in lower case. */
  readonly headers?: Readonly<Record<string, unknown>>;
}

export interface Case {
  readonly name: string;
  readonly client?: Readonly<Record<string, unknown>>;
  readonly without?: readonly ('url' | 'key')[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly faults?: readonly Fault[];
  readonly plan?: string;
  readonly suspended?: boolean;
  readonly key?: string;
  /** It gives members that calls do not have: a compiler refuses it. */
  readonly untyped?: boolean;
  readonly url_path?: string;
  readonly requests?: readonly ExpectedRequests[];
  readonly warnings?: readonly string[];
  readonly log?: readonly unknown[];
  readonly steps: readonly Step[];
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const withIndex = (value: unknown, index: number): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll(/\$\{i\}/g, String(index)));

/** Writes out every `$repeat`. */
function writtenOut(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(writtenOut);
  if (!isRecord(value)) return value;
  const { $repeat: count, of, but } = value;
  if (typeof count !== 'number') {
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, writtenOut(each)]));
  }
  const exceptions = isRecord(but) ? but : {};
  return Array.from({ length: count }, (_, index) => withIndex(exceptions[index] ?? of, index));
}

/** `typed`: without the cases that a compiler refuses. */
export function readCases({ typed = false } = {}): readonly Case[] {
  const cases = globSync('*.json', { cwd: CASES })
    .toSorted()
    .flatMap((file) => writtenOut(JSON.parse(readFileSync(join(CASES, file), 'utf8'))) as Case[]);
  return cases.filter((each) => !(typed && each.untyped === true));
}
