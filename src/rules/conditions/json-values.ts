// Values of declared types out of JSON. A value that JSON cannot carry without loss, or that means one moment here and
// another there, is refused: an integer beyond 2^53 as a number, a timestamp without zone.

import { CONTEXT_DEPTH_MAX } from '../../core/grant-terms.ts';
import { parseIpAddress } from './ip-addresses.ts';
import { type StepMeter, TEXT_STEPS } from './step-meter.ts';
import { lacksZone, parseDuration, parseRfc3339 } from './times.ts';
import { type CelType, DYN, STRING } from './types.ts';
import { CelMap, INT_MAX, INT_MIN, type MapKey, stepsOf, UINT_MAX, Uint, type Value } from './values.ts';

/** Why a value is refused. */
export class ValueRefusal {
  /** Where it stands in the value that was converted: `[3].id`; empty: it is that value. */
  readonly path: string;
  readonly #reason: string;

  constructor(reason: string, path = '') {
    this.#reason = reason;
    this.path = path;
  }

  /** The same of a value that contains it. */
  within(part: string): ValueRefusal {
    return new ValueRefusal(this.#reason, `${part}${this.path}`);
  }

  /** A sentence, without a full stop. `place`: of the value that was converted. */
  textAt(place: string): string {
    return `${JSON.stringify(`${place}${this.path}`)} ${this.#reason}`;
  }
}

const SHOWN_LENGTH_MAX = 60;

function shown(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'number' && !Number.isFinite(value)) return 'a number beyond the doubles';
  const text = JSON.stringify(value);
  return text.length > SHOWN_LENGTH_MAX ? `${text.slice(0, SHOWN_LENGTH_MAX)}…` : text;
}

const refuse = (wanted: string, value: unknown): ValueRefusal =>
  new ValueRefusal(`must be ${wanted}; it is ${shown(value)}`);

const INTEGER = /^-?\d{1,20}$/;
const DECIMAL = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const isUnsafe = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);

function integer(value: unknown, [min, max]: readonly [bigint, bigint], wanted: string): bigint | ValueRefusal {
  if (isUnsafe(value)) {
    return refuse(`${wanted}: beyond 2^53, where JSON numbers lose digits, as a string of digits`, value);
  }
  const isInteger =
    typeof value === 'number' ? Number.isInteger(value) : typeof value === 'string' && INTEGER.test(value);
  const parsed = isInteger && (typeof value === 'number' || typeof value === 'string') ? BigInt(value) : undefined;
  return parsed === undefined || parsed < min || parsed > max ? refuse(wanted, value) : parsed;
}

const ILL_FORMED = new ValueRefusal('contains half of a surrogate pair');

const text = (value: string): string | ValueRefusal => (value.isWellFormed() ? value : ILL_FORMED);

function double(value: unknown): Value | ValueRefusal {
  const parsed = typeof value === 'string' && value.length <= 100 && DECIMAL.test(value) ? Number(value) : value;
  return typeof parsed === 'number' && Number.isFinite(parsed) ? parsed : refuse('a double, which is a number', value);
}

function timestamp(value: unknown): Value | ValueRefusal {
  const parsed = typeof value === 'string' ? parseRfc3339(value) : undefined;
  if (parsed !== undefined) return parsed;
  return typeof value === 'string' && value.length < 40 && lacksZone(value)
    ? refuse('a timestamp with a time zone, such as "Z" for UTC at its end', value)
    : refuse('a timestamp such as "2026-01-31T09:00:00Z"', value);
}

function fromText<T extends Value>(
  value: unknown,
  parse: (text: string) => T | undefined,
  wanted: string,
): T | ValueRefusal {
  return (typeof value === 'string' ? parse(value) : undefined) ?? refuse(wanted, value);
}

const parseBase64 = (text: string): Uint8Array | undefined =>
  BASE64.test(text) ? new Uint8Array(Buffer.from(text, 'base64')) : undefined;

const READ_AS_TEXT: ReadonlySet<CelType['kind']> = new Set(['timestamp', 'duration', 'ipaddress']);

class Converter {
  readonly #meter: StepMeter;

  constructor(meter: StepMeter) {
    this.#meter = meter;
  }

  convert(value: unknown, type: CelType, depth: number): Value | ValueRefusal {
    this.#meter.spend(1 + (READ_AS_TEXT.has(type.kind) ? TEXT_STEPS : 0));
    if (typeof value === 'string') this.#meter.spend(stepsOf(value.length));
    switch (type.kind) {
      case 'bool':
        return typeof value === 'boolean' ? value : refuse('a bool: true or false', value);
      case 'int':
        return integer(value, [INT_MIN, INT_MAX], 'an int of 64 bits');
      case 'uint': {
        const parsed = integer(value, [0n, UINT_MAX], 'a uint, from 0 to 2^64 - 1');
        return typeof parsed === 'bigint' ? new Uint(parsed) : parsed;
      }
      case 'double':
        return double(value);
      case 'string':
        return typeof value === 'string' ? text(value) : refuse('a string', value);
      case 'bytes':
        return fromText(value, parseBase64, 'bytes in base64, with padding');
      case 'timestamp':
        return timestamp(value);
      case 'duration':
        return fromText(value, parseDuration, 'a duration such as "1h30m"');
      case 'ipaddress':
        return fromText(value, parseIpAddress, 'an IP address such as "10.0.0.1" or "2001:db8::1"');
      case 'null':
        return value === null ? null : refuse('null', value);
      case 'list':
        return Array.isArray(value)
          ? this.#list(value, type.element, depth)
          : refuse('a list, which is an array', value);
      case 'map':
        return typeof value === 'object' && value !== null && !Array.isArray(value)
          ? this.#map(value, type.value, depth)
          : refuse('a map, which is an object', value);
      case 'dyn':
        return this.#any(value, depth);
    }
  }

  #any(value: unknown, depth: number): Value | ValueRefusal {
    if (value === null || typeof value === 'boolean') return value;
    if (typeof value === 'string') return text(value);
    if (isUnsafe(value)) return LOSSY;
    if (typeof value === 'number') return double(value);
    if (Array.isArray(value)) return this.#list(value, DYN, depth);
    return this.convert(value, { kind: 'map', key: STRING, value: DYN }, depth);
  }

  #list(values: readonly unknown[], element: CelType, depth: number): Value | ValueRefusal {
    if (depth === CONTEXT_DEPTH_MAX) return TOO_DEEP;
    const converted: Value[] = [];
    for (const [index, value] of values.entries()) {
      const each = this.convert(value, element, depth + 1);
      if (each instanceof ValueRefusal) return each.within(`[${index}]`);
      converted.push(each);
    }
    return converted;
  }

  #map(values: object, type: CelType, depth: number): Value | ValueRefusal {
    if (depth === CONTEXT_DEPTH_MAX) return TOO_DEEP;
    const entries = new Map<MapKey, { readonly key: Value; readonly value: Value }>();
    for (const [key, value] of Object.entries(values)) {
      this.#meter.spend(1 + stepsOf(key.length));
      const each = key.isWellFormed() ? this.convert(value, type, depth + 1) : ILL_FORMED;
      if (each instanceof ValueRefusal) return each.within(`.${key.slice(0, SHOWN_LENGTH_MAX)}`);
      entries.set(key, { key, value: each });
    }
    return new CelMap(entries);
  }
}

/** A string of the same digits would be equal to no number, so that it is no way out. */
const LOSSY = new ValueRefusal(
  'is an integer beyond 2^53, where JSON numbers lose digits; declare the parameter as int, uint or double, of which the first two take it as a string of digits',
);
const TOO_DEEP = new ValueRefusal(`is nested more than ${CONTEXT_DEPTH_MAX} deep`);

/** A value of the type out of parsed JSON. */
export const convertValue = (value: unknown, type: CelType, meter: StepMeter): Value | ValueRefusal =>
  new Converter(meter).convert(value, type, 1);
