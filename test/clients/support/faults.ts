// The faults of clients/contract/faults.json: what the bad server sends for one, and what each operation has to give.
// Invariant: each fault is asked of each operation that it names, and no operation without a body of one in the body.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Move, Script } from './bad-server.ts';
import type { CountRange } from './cases.ts';

const TABLE = join(import.meta.dirname, '..', '..', '..', 'clients', 'contract', 'faults.json');

type Members = Readonly<Record<string, unknown>>;

export interface Operation {
  readonly step: Members & { readonly call: string };
  readonly status: number;
  readonly right?: Members;
  readonly other?: Members;
  readonly result: Members;
  readonly other_result?: Members;
  readonly decisive?: string;
}

/** What is done to the right body, in the order of the fields. */
interface Spoiling {
  readonly text?: string;
  readonly json?: unknown;
  readonly set?: Members;
  readonly capitals?: boolean;
  readonly doubled?: boolean | 'escaped';
  readonly extra?: string;
  readonly extra_hex?: string;
  readonly nested?: number;
  readonly padded?: number;
  readonly before?: string;
  readonly after?: string;
  readonly before_hex?: string;
  readonly cut?: number;
  readonly utf16?: boolean;
  readonly gzip?: 'whole' | 'cut' | 'without-checksum' | 'bomb';
}

type Part =
  | string
  | { readonly hex: string }
  | { readonly repeat: string; readonly times: number }
  | { readonly trickle: string };

export interface Fault {
  readonly name: string;
  /** Operations, or the name of a group of them. */
  readonly of?: string | readonly string[];
  readonly at?: 'accept';
  readonly send?: 'nothing listens' | readonly Part[];
  readonly status?: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Spoiling;
  readonly repeat?: number;
  readonly timeout_ms?: number;
  readonly gives: string;
  readonly again?: boolean | 'either';
  /** By default, as `again`. */
  readonly retryable?: boolean;
  readonly requests?: CountRange;
}

interface Table {
  readonly operations: Readonly<Record<string, Operation>>;
  readonly groups: Readonly<Record<string, readonly string[]>>;
  readonly faults: readonly Fault[];
}

export const readTable = (): Table => JSON.parse(readFileSync(TABLE, 'utf8'));

export function operationsOf({ of }: Fault, { operations, groups }: Table): readonly string[] {
  if (of === undefined) return Object.keys(operations);
  return typeof of === 'string' ? (groups[of] ?? []) : of;
}

const isMembers = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function setAt(value: unknown, path: string, member: unknown): void {
  const names = path.split('.');
  const last = names.pop() ?? '';
  let at = value;
  for (const name of names) at = isMembers(at) ? at[name] : undefined;
  if (!isMembers(at)) throw new Error(`There is no ${path}.`);
  if (isMembers(member) && member.$absent === true) delete at[last];
  else at[last] = member;
}

/** The members of an object with another one before them. */
const withMember = (json: string, member: Buffer): Buffer =>
  Buffer.concat([Buffer.from('{'), member, Buffer.from(`,${json.slice(1)}`)]);

function spoiltText({ text, json, set = {}, capitals }: Spoiling, { right, decisive = '' }: Operation): string {
  if (text !== undefined) return text;
  if (json !== undefined) return JSON.stringify(json);
  const copy: unknown = structuredClone(right);
  for (const [path, value] of Object.entries(set)) setAt(copy, path.replace('$decisive', decisive), value);
  const name = decisive.split('.').at(-1) ?? '';
  const written = JSON.stringify(copy) ?? '';
  return capitals === true ? written.replaceAll(`"${name}"`, `"${name[0]?.toUpperCase()}${name.slice(1)}"`) : written;
}

function extraOf({ extra, extra_hex: hex, nested, padded, doubled }: Spoiling, operation: Operation): Buffer {
  const { right = {}, other = right, decisive = '' } = operation;
  if (extra !== undefined) return Buffer.from(`"x":${extra}`);
  if (hex !== undefined) return Buffer.concat([Buffer.from('"x":'), Buffer.from(hex, 'hex')]);
  if (nested !== undefined) return Buffer.from(`"x":${'['.repeat(nested)}${']'.repeat(nested)}`);
  if (padded !== undefined) return Buffer.from(`"x":"${'a'.repeat(padded)}"`);
  if (doubled === undefined) return Buffer.alloc(0);
  const [name = ''] = decisive.split('.');
  const code = name.charCodeAt(0).toString(16).padStart(4, '0');
  const written = doubled === 'escaped' ? `\\u${code}${name.slice(1)}` : name;
  return Buffer.from(`"${written}":${JSON.stringify(other[name])}`);
}

const GZIP_TRAILER_BYTES = 8;
const BOMB_BYTES = 100 << 20;
const BOMB = { bytes: undefined as Buffer | undefined };

function zipped(body: Buffer, how: Spoiling['gzip']): Buffer {
  if (how === undefined) return body;
  if (how === 'bomb') {
    BOMB.bytes ??= gzipSync(Buffer.alloc(BOMB_BYTES, ' '), { level: 9 });
    return BOMB.bytes;
  }
  const whole = gzipSync(body);
  if (how === 'without-checksum') return whole.subarray(0, whole.length - GZIP_TRAILER_BYTES);
  return how === 'cut' ? whole.subarray(0, whole.length >> 1) : whole;
}

const isStream = ({ step: { call } }: Operation): boolean => call === 'listChanges';

/** The right body of the operation, spoilt as the fault says. */
function bodyOf(spoiling: Spoiling, operation: Operation): Buffer {
  const text = spoiltText(spoiling, operation);
  const extra = extraOf(spoiling, operation);
  const json = extra.length > 0 ? withMember(text, extra) : Buffer.from(text);
  const { before = '', before_hex: hex = '', after = '', cut = 0 } = spoiling;
  const whole = Buffer.concat([
    Buffer.from(hex, 'hex'),
    Buffer.from(before),
    json.subarray(0, json.length - cut),
    filled(after, { json }),
    Buffer.from(isStream(operation) && text !== '' ? '\n' : ''),
  ]);
  return zipped(spoiling.utf16 === true ? Buffer.from(whole.toString(), 'utf16le') : whole, spoiling.gzip);
}

const typeOf = (operation: Operation): string => (isStream(operation) ? 'application/x-ndjson' : 'application/json');

function headOf(operation: Operation, body: Buffer, fault: Partial<Fault>): Buffer {
  const status = fault.status ?? operation.status;
  const type = fault.type ?? typeOf(operation);
  const fields = { ...(type === '' ? {} : { 'Content-Type': type }), ...fault.headers };
  const length = status === 204 || status === 304 ? [] : [`Content-Length: ${body.length}`];
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  return Buffer.from([`HTTP/1.1 ${status} As The Table Says`, ...lines, ...length, '', ''].join('\r\n'));
}

const BLOCK = Buffer.alloc(1 << 16, ' ');

function filled(text: string, values: Readonly<Record<string, Buffer | string>>): Buffer {
  const parts = text.split(/\$\{(\w+)\}/);
  return Buffer.concat(
    parts.map((part, index) => {
      const value = index % 2 === 0 ? part : values[part];
      if (value === undefined) throw new Error(`There is no \${${part}}.`);
      return typeof value === 'string' ? Buffer.from(value) : value;
    }),
  );
}

function responseTo(operation: Operation, fault: Partial<Fault>, right = operation.right): Buffer {
  const spoilt = { ...operation, ...(right === undefined ? {} : { right }) };
  const body =
    operation.status === 204 && fault.body === undefined ? Buffer.alloc(0) : bodyOf(fault.body ?? {}, spoilt);
  return Buffer.concat([headOf(operation, body, fault), body]);
}

export const rightScript = (operation: Operation): Script => [responseTo(operation, {})];

/** `elsewhere`: the address to which a redirection leads. */
export function scriptOf(fault: Fault, operation: Operation, elsewhere: string): Script {
  const headers = Object.fromEntries(
    Object.entries(fault.headers ?? {}).map(([name, value]) => [name, filled(value, { elsewhere }).toString()]),
  );
  if (fault.send === undefined || typeof fault.send === 'string') return [responseTo(operation, { ...fault, headers })];
  const body = operation.right === undefined ? Buffer.alloc(0) : bodyOf({}, operation);
  const values = {
    status: `${operation.status} As The Table Says`,
    type: typeOf(operation),
    body,
    half: body.subarray(0, body.length >> 1),
    length: String(body.length),
    size: body.length.toString(16),
    head: headOf(operation, body, {}),
    other: operation.other === undefined ? '' : responseTo(operation, {}, operation.other),
    block: BLOCK,
  };
  return fault.send.map((part): Move => {
    if (part === 'end' || part === 'reset' || part === 'silence') return part;
    if (typeof part === 'string') return filled(part, values);
    if ('hex' in part) return Buffer.from(part.hex, 'hex');
    if ('trickle' in part) return { trickle: filled(part.trickle, values) };
    return { bytes: filled(part.repeat, values), times: part.times };
  });
}
