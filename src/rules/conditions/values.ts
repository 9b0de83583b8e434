// The values of CEL at run time, and when two of them are equal or ordered, as the CEL specification defines it.
// Invariant: integers and times are exact. An int is a bigint, and times count nanoseconds.

import type { StepMeter } from './step-meter.ts';

export const INT_MIN = -(2n ** 63n);
export const INT_MAX = 2n ** 63n - 1n;
export const UINT_MAX = 2n ** 64n - 1n;
export const NANOS_PER_SECOND = 1_000_000_000n;

/** An unsigned integer of 64 bits. */
export class Uint {
  readonly value: bigint;
  constructor(value: bigint) {
    this.value = value;
  }
}

/** A moment between the years 1 and 9999. */
export class Timestamp {
  /** Since 1970-01-01T00:00:00Z. */
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** A span of time of 64 bits of nanoseconds, which may be negative. */
export class Duration {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

export class IpAddress {
  readonly version: 4 | 6;
  readonly bits: bigint;
  constructor(version: 4 | 6, bits: bigint) {
    this.version = version;
    this.bits = bits;
  }
}

/** Numbers are keys by their mathematical value: `1`, `1u` and `1.0` are one key. */
export type MapKey = string | bigint | boolean;

export class CelMap {
  readonly entries: ReadonlyMap<MapKey, { readonly key: Value; readonly value: Value }>;
  constructor(entries: ReadonlyMap<MapKey, { readonly key: Value; readonly value: Value }>) {
    this.entries = entries;
  }
}

export type Value =
  | null
  | boolean
  /** int */
  | bigint
  /** double */
  | number
  | string
  | Uint
  | Timestamp
  | Duration
  | IpAddress
  | Uint8Array
  | readonly Value[]
  | CelMap;

/** What an expression gives instead of a value: it depends on parameters that are missing, or it fails at run time. */
export class Unresolved {
  /** Names of parameters; empty: the expression fails. */
  readonly missing: readonly string[];
  /** Why it fails; empty: parameters are missing. */
  readonly reason: string;

  private constructor(missing: readonly string[], reason: string) {
    this.missing = missing;
    this.reason = reason;
  }

  static failed(reason: string): Unresolved {
    return new Unresolved([], reason);
  }

  static missing(names: readonly string[]): Unresolved {
    return new Unresolved(names, '');
  }

  get isMissing(): boolean {
    return this.missing.length > 0;
  }

  /** Joins two operands of which either may decide: a missing parameter still can, an error cannot. */
  static either(left: Unresolved | undefined, right: Unresolved): Unresolved {
    if (left === undefined) return right;
    if (!left.isMissing) return right.isMissing ? right : left;
    if (!right.isMissing) return left;
    return Unresolved.missing([...new Set([...left.missing, ...right.missing])]);
  }

  /** Joins two operands that are both needed: an error stays one, whatever the missing parameters are. */
  static both(left: Result, right: Result): Unresolved {
    const first = left instanceof Unresolved ? left : undefined;
    const second = right instanceof Unresolved ? right : undefined;
    if (first !== undefined && !first.isMissing) return first;
    if (second !== undefined && !second.isMissing) return second;
    return Unresolved.missing([...new Set([...(first?.missing ?? []), ...(second?.missing ?? [])])]);
  }
}

export type Result = Value | Unresolved;

export const isList = (value: Value): value is readonly Value[] => Array.isArray(value);

/** The key that a value is in a map; undefined: a value of this type is no key, or a fraction is equal to none. */
export function mapKey(value: Value): MapKey | undefined {
  switch (typeof value) {
    case 'string':
    case 'bigint':
    case 'boolean':
      return value;
    case 'number':
      return Number.isInteger(value) ? BigInt(value) : undefined;
    default:
      return value instanceof Uint ? value.value : undefined;
  }
}

/** Steps that a pass over so many characters, bytes or elements costs. */
export const stepsOf = (size: number): number => size >>> 3;

function equalMaps(left: CelMap, right: CelMap, meter: StepMeter): boolean {
  if (left.entries.size !== right.entries.size) return false;
  for (const [key, { value }] of left.entries) {
    meter.spend(1);
    const other = right.entries.get(key);
    if (other === undefined || !equal(value, other.value, meter)) return false;
  }
  return true;
}

function equalLists(left: readonly Value[], right: readonly Value[], meter: StepMeter): boolean {
  if (left.length !== right.length) return false;
  let index = 0;
  for (const value of left) {
    meter.spend(1);
    const other = right[index];
    if (other === undefined || !equal(value, other, meter)) return false;
    index += 1;
  }
  return true;
}

/** Exact, where one is an integer and the other a double. */
function equalNumbers(left: number | bigint, right: Value): boolean {
  const other = right instanceof Uint ? right.value : right;
  if (typeof left === typeof other) return left === other;
  const [integer, double] = typeof left === 'bigint' ? [left, other] : [other, left];
  return (
    typeof integer === 'bigint' && typeof double === 'number' && Number.isInteger(double) && BigInt(double) === integer
  );
}

/** Values of different types are different, except numbers, which are compared by value. NaN equals nothing. */
export function equal(left: Value, right: Value, meter: StepMeter): boolean {
  if (typeof left === 'string') {
    if (typeof right !== 'string' || left.length !== right.length) return false;
    meter.spend(stepsOf(left.length));
    return left === right;
  }
  if (typeof left === 'boolean' || left === null) return left === right;
  if (typeof left === 'number' || typeof left === 'bigint') return equalNumbers(left, right);
  if (left instanceof Uint) return equalNumbers(left.value, right);
  meter.spend(1);
  if (left instanceof Timestamp) return right instanceof Timestamp && left.nanos === right.nanos;
  if (left instanceof Duration) return right instanceof Duration && left.nanos === right.nanos;
  if (left instanceof IpAddress)
    return right instanceof IpAddress && left.version === right.version && left.bits === right.bits;
  if (left instanceof Uint8Array) return right instanceof Uint8Array && compareBytes(left, right, meter) === 0;
  if (left instanceof CelMap) return right instanceof CelMap && equalMaps(left, right, meter);
  return right !== null && isList(right) && equalLists(left, right, meter);
}

export function compareBytes(left: Uint8Array, right: Uint8Array, meter: StepMeter): number {
  meter.spend(stepsOf(Math.min(left.length, right.length)));
  return Buffer.compare(left, right);
}

const isSurrogate = (code: number): boolean => code >= 0xd8_00 && code <= 0xdf_ff;

/** By code points, as the bytes of UTF-8 are ordered. */
export function compareStrings(left: string, right: string, meter: StepMeter): number {
  const length = Math.min(left.length, right.length);
  meter.spend(stepsOf(length));
  for (let at = 0; at < length; at += 1) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a === b) continue;
    // A surrogate stands for a code point above all others.
    if (isSurrogate(a) === isSurrogate(b)) return a - b;
    return isSurrogate(a) ? 1 : -1;
  }
  return left.length - right.length;
}
