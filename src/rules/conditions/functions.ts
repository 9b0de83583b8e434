// The functions and operators of CEL that conditions may use, with the types that they take and give. Each takes one or
// two values. Invariant: a function sees only values of the types that it declares, and spends steps for their size.

import { isInNetwork, parseIpAddress, parseIpNetwork } from './ip-addresses.ts';
import { Pattern, PatternError } from './patterns.ts';
import { type StepMeter, TEXT_STEPS } from './step-meter.ts';
import {
  dayOfYear,
  durationOf,
  durationText,
  lacksZone,
  localTime,
  parseDuration,
  parseRfc3339,
  timestampOf,
  timestampText,
  type ZoneOffsets,
} from './times.ts';
import * as types from './types.ts';
import {
  CelMap,
  compareBytes,
  compareStrings,
  Duration,
  equal,
  INT_MAX,
  INT_MIN,
  IpAddress,
  isList,
  mapKey,
  NANOS_PER_SECOND,
  type Result,
  stepsOf,
  Timestamp,
  UINT_MAX,
  Uint,
  Unresolved,
  type Value,
} from './values.ts';

/** What functions use besides their arguments. */
export interface FunctionContext {
  readonly meter: StepMeter;
  readonly zones: ZoneOffsets;
}

/** A function for arguments of certain types. */
export interface Overload {
  readonly name: string;
  /** Called as `first.name(second)`. */
  readonly isMethod: boolean;
  readonly parameters: readonly types.CelType[];
  readonly result: types.CelType;
  /** Undefined: the arguments are not of the types of the parameters. */
  readonly call: (context: FunctionContext, first: Value, second: Value | undefined) => Result | undefined;
}

/** A type, and whether a value has it. */
interface Kind<T extends Value> {
  readonly type: types.CelType;
  readonly is: (value: Value) => value is T;
}

const BOOL: Kind<boolean> = { type: types.BOOL, is: (value) => typeof value === 'boolean' };
const INT: Kind<bigint> = { type: types.INT, is: (value) => typeof value === 'bigint' };
const UINT: Kind<Uint> = { type: types.UINT, is: (value) => value instanceof Uint };
const DOUBLE: Kind<number> = { type: types.DOUBLE, is: (value) => typeof value === 'number' };
const STRING: Kind<string> = { type: types.STRING, is: (value) => typeof value === 'string' };
const BYTES: Kind<Uint8Array> = { type: types.BYTES, is: (value) => value instanceof Uint8Array };
const TIMESTAMP: Kind<Timestamp> = { type: types.TIMESTAMP, is: (value) => value instanceof Timestamp };
const DURATION: Kind<Duration> = { type: types.DURATION, is: (value) => value instanceof Duration };
const IP: Kind<IpAddress> = { type: types.IPADDRESS, is: (value) => value instanceof IpAddress };
const LIST: Kind<readonly Value[]> = { type: types.LIST, is: isList };
const MAP: Kind<CelMap> = { type: types.MAP, is: (value) => value instanceof CelMap };
const DYN: Kind<Value> = { type: types.DYN, is: (_value): _value is Value => true };

const { failed } = Unresolved;

type Form = 'function' | 'method';

function unary<A extends Value>(
  form: Form,
  name: string,
  first: Kind<A>,
  result: types.CelType,
  apply: (value: A, context: FunctionContext) => Result,
): Overload {
  return {
    name,
    isMethod: form === 'method',
    parameters: [first.type],
    result,
    call: (context, value) => (first.is(value) ? apply(value, context) : undefined),
  };
}

function binary<A extends Value, B extends Value>(
  form: Form,
  name: string,
  [first, second]: readonly [Kind<A>, Kind<B>],
  result: types.CelType,
  apply: (left: A, right: B, context: FunctionContext) => Result,
): Overload {
  return {
    name,
    isMethod: form === 'method',
    parameters: [first.type, second.type],
    result,
    call: (context, left, right) =>
      right !== undefined && first.is(left) && second.is(right) ? apply(left, right, context) : undefined,
  };
}

/** Steps of reading the database of time zones. */
const ZONE_STEPS = 100;

/** The same functions, each for so many steps. */
const costing = (steps: number, overloads: readonly Overload[]): readonly Overload[] =>
  overloads.map((overload) => ({
    ...overload,
    call: (context, first, second) => {
      context.meter.spend(steps);
      return overload.call(context, first, second);
    },
  }));

const OVERFLOW = failed('a number is out of range');
const intOf = (value: bigint): Result => (value < INT_MIN || value > INT_MAX ? OVERFLOW : value);
const uintOf = (value: bigint): Result => (value < 0n || value > UINT_MAX ? OVERFLOW : new Uint(value));
const timeOf = (nanos: bigint): Result => timestampOf(nanos) ?? failed('a timestamp is outside the years 1 to 9999');
const spanOf = (nanos: bigint): Result => durationOf(nanos) ?? failed('a duration is out of range');

type Arithmetic = readonly [
  name: string,
  ofIntegers: (left: bigint, right: bigint) => bigint,
  ofDoubles: ((left: number, right: number) => number) | undefined,
];
const ARITHMETIC: readonly Arithmetic[] = [
  ['_+_', (left, right) => left + right, (left, right) => left + right],
  ['_-_', (left, right) => left - right, (left, right) => left - right],
  ['_*_', (left, right) => left * right, (left, right) => left * right],
  ['_/_', (left, right) => left / right, (left, right) => left / right],
  ['_%_', (left, right) => left % right, undefined],
];

const arithmetic = ARITHMETIC.flatMap(([name, ofIntegers, ofDoubles]) => {
  const divides = name === '_/_' || name === '_%_';
  const byZero = failed(name === '_/_' ? 'division by zero' : 'the remainder of a division by zero');
  return [
    binary('function', name, [INT, INT], types.INT, (left, right) =>
      divides && right === 0n ? byZero : intOf(ofIntegers(left, right)),
    ),
    binary('function', name, [UINT, UINT], types.UINT, (left, right) =>
      divides && right.value === 0n ? byZero : uintOf(ofIntegers(left.value, right.value)),
    ),
    ...(ofDoubles === undefined ? [] : [binary('function', name, [DOUBLE, DOUBLE], types.DOUBLE, ofDoubles)]),
  ];
});

/** Sums and differences of what is no number. */
const sums = [
  binary('function', '_+_', [STRING, STRING], types.STRING, (left, right, { meter }) => {
    meter.spend(stepsOf(left.length + right.length));
    return left + right;
  }),
  binary('function', '_+_', [BYTES, BYTES], types.BYTES, (left, right, { meter }) => {
    meter.spend(stepsOf(left.length + right.length));
    return new Uint8Array(Buffer.concat([left, right]));
  }),
  binary('function', '_+_', [TIMESTAMP, DURATION], types.TIMESTAMP, (left, right) => timeOf(left.nanos + right.nanos)),
  binary('function', '_+_', [DURATION, TIMESTAMP], types.TIMESTAMP, (left, right) => timeOf(left.nanos + right.nanos)),
  binary('function', '_+_', [DURATION, DURATION], types.DURATION, (left, right) => spanOf(left.nanos + right.nanos)),
  binary('function', '_-_', [TIMESTAMP, DURATION], types.TIMESTAMP, (left, right) => timeOf(left.nanos - right.nanos)),
  binary('function', '_-_', [TIMESTAMP, TIMESTAMP], types.DURATION, (left, right) => spanOf(left.nanos - right.nanos)),
  binary('function', '_-_', [DURATION, DURATION], types.DURATION, (left, right) => spanOf(left.nanos - right.nanos)),
  unary('function', '-_', INT, types.INT, (value) => intOf(-value)),
  unary('function', '-_', DOUBLE, types.DOUBLE, (value) => -value),
  unary('function', '!_', BOOL, types.BOOL, (value) => !value),
];

/** Negative, zero or positive; not a number if the values have no order. */
type Comparison<T extends Value> = (left: T, right: T, meter: StepMeter) => number;

const difference = (left: bigint, right: bigint): number => (left < right ? -1 : left > right ? 1 : 0);
const compareNumbers = (left: number, right: number): number =>
  left < right ? -1 : left > right ? 1 : left === right ? 0 : Number.NaN;

const ORDERS: readonly (readonly [name: string, holds: (difference: number) => boolean])[] = [
  ['_<_', (order) => order < 0],
  ['_<=_', (order) => order <= 0],
  ['_>_', (order) => order > 0],
  ['_>=_', (order) => order >= 0],
];

function ordered<T extends Value>(kind: Kind<T>, compare: Comparison<T>): readonly Overload[] {
  return ORDERS.map(([name, holds]) =>
    binary('function', name, [kind, kind], types.BOOL, (left, right, { meter }) => holds(compare(left, right, meter))),
  );
}

/** Compares numbers of different types, where one is known at run time only. */
function orderedAcross<A extends Value, B extends Value>(
  first: Kind<A>,
  second: Kind<B>,
  compare: (left: A, right: B) => number,
): readonly Overload[] {
  return ORDERS.flatMap(([name, holds]) => [
    binary('function', name, [first, second], types.BOOL, (left, right) => holds(compare(left, right))),
    binary('function', name, [second, first], types.BOOL, (left, right) => holds(-compare(right, left))),
  ]);
}

const orders = [
  ...ordered(BOOL, (left, right) => Number(left) - Number(right)),
  ...ordered(INT, difference),
  ...ordered(UINT, (left, right) => difference(left.value, right.value)),
  ...ordered(DOUBLE, compareNumbers),
  ...ordered(STRING, compareStrings),
  ...ordered(BYTES, compareBytes),
  ...ordered(TIMESTAMP, (left, right) => difference(left.nanos, right.nanos)),
  ...ordered(DURATION, (left, right) => difference(left.nanos, right.nanos)),
  ...orderedAcross(INT, UINT, (left, right) => difference(left, right.value)),
  // The specification compares an integer with a double as doubles.
  ...orderedAcross(INT, DOUBLE, (left, right) => compareNumbers(Number(left), right)),
  ...orderedAcross(UINT, DOUBLE, (left, right) => compareNumbers(Number(left.value), right)),
];

const equalities = [
  binary('function', '_==_', [DYN, DYN], types.BOOL, (left, right, { meter }) => equal(left, right, meter)),
  binary('function', '_!=_', [DYN, DYN], types.BOOL, (left, right, { meter }) => !equal(left, right, meter)),
];

const NO_KEY = failed('no such key');

/** `map[key]`, and `map.key`. */
export function valueInMap(map: CelMap, key: Value): Result {
  const found = mapKey(key);
  const entry = found === undefined ? undefined : map.entries.get(found);
  return entry === undefined ? NO_KEY : entry.value;
}

function elementAt(list: readonly Value[], index: number): Result {
  const element = Number.isInteger(index) ? list[index] : undefined;
  return element === undefined ? failed('an index is outside the list') : element;
}

const collections = [
  binary('function', '_+_', [LIST, LIST], types.LIST, (left, right, { meter }) => {
    meter.spend(stepsOf(left.length + right.length));
    return left.concat(right);
  }),
  binary('function', '_[_]', [LIST, INT], types.DYN, (list, index) => elementAt(list, Number(index))),
  binary('function', '_[_]', [LIST, UINT], types.DYN, (list, index) => elementAt(list, Number(index.value))),
  binary('function', '_[_]', [LIST, DOUBLE], types.DYN, elementAt),
  binary('function', '_[_]', [MAP, DYN], types.DYN, valueInMap),
  binary('function', '@in', [DYN, LIST], types.BOOL, (value, list, { meter }) => {
    for (const element of list) {
      meter.spend(1);
      if (equal(value, element, meter)) return true;
    }
    return false;
  }),
  binary('function', '@in', [DYN, MAP], types.BOOL, (value, map) => {
    const key = mapKey(value);
    return key !== undefined && map.entries.has(key);
  }),
];

function countCodePoints(text: string, { meter }: FunctionContext): bigint {
  meter.spend(stepsOf(text.length));
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0xdc_00 || code > 0xdf_ff) count += 1;
  }
  return BigInt(count);
}

const sizes = (['function', 'method'] as const).flatMap((form) => [
  unary(form, 'size', STRING, types.INT, countCodePoints),
  unary(form, 'size', BYTES, types.INT, (value) => BigInt(value.length)),
  unary(form, 'size', LIST, types.INT, (value) => BigInt(value.length)),
  unary(form, 'size', MAP, types.INT, (value) => BigInt(value.entries.size)),
]);

/** The engine's search for one text in another takes time in proportion to the product of their lengths at worst. */
const COMPARISONS_PER_STEP = 2048;

const texts = [
  binary('method', 'startsWith', [STRING, STRING], types.BOOL, (text, part, { meter }) => {
    meter.spend(stepsOf(part.length));
    return text.startsWith(part);
  }),
  binary('method', 'endsWith', [STRING, STRING], types.BOOL, (text, part, { meter }) => {
    meter.spend(stepsOf(part.length));
    return text.endsWith(part);
  }),
  binary('method', 'contains', [STRING, STRING], types.BOOL, (text, part, { meter }) => {
    meter.spend(stepsOf(text.length) + Math.ceil((text.length * part.length) / COMPARISONS_PER_STEP));
    return text.includes(part);
  }),
  ...(['function', 'method'] as const).map((form) => binary(form, 'matches', [STRING, STRING], types.BOOL, matches)),
];

function matches(text: string, pattern: string, { meter }: FunctionContext): Result {
  try {
    return Pattern.compile(pattern, meter).matches(text, meter);
  } catch (error) {
    if (error instanceof PatternError) return failed(error.message.replace(/\.$/, ''));
    throw error;
  }
}

const addresses = costing(TEXT_STEPS, [
  binary('method', 'in_cidr', [IP, STRING], types.BOOL, (ip, text) => {
    const network = parseIpNetwork(text);
    return network === undefined
      ? failed('the argument of in_cidr() must be a network such as "10.0.0.0/8"')
      : isInNetwork(ip, network);
  }),
]);

type TimePart = readonly [name: string, part: (date: Date) => number];
const TIME_PARTS: readonly TimePart[] = [
  ['getFullYear', (date) => date.getUTCFullYear()],
  ['getMonth', (date) => date.getUTCMonth()],
  ['getDate', (date) => date.getUTCDate()],
  ['getDayOfMonth', (date) => date.getUTCDate() - 1],
  ['getDayOfWeek', (date) => date.getUTCDay()],
  ['getDayOfYear', dayOfYear],
  ['getHours', (date) => date.getUTCHours()],
  ['getMinutes', (date) => date.getUTCMinutes()],
  ['getSeconds', (date) => date.getUTCSeconds()],
  ['getMilliseconds', (date) => date.getUTCMilliseconds()],
];
const times = [
  ...TIME_PARTS.flatMap(([name, part]) => [
    unary('method', name, TIMESTAMP, types.INT, (time) => BigInt(part(localTime(time, 0n)))),
    ...costing(ZONE_STEPS, [
      binary('method', name, [TIMESTAMP, STRING], types.INT, (time, zone, { zones }) => {
        const offset = zones.offsetAt(zone, time);
        return offset === undefined
          ? failed('there is no time zone of that name')
          : BigInt(part(localTime(time, offset)));
      }),
    ]),
  ]),
  unary('method', 'getHours', DURATION, types.INT, ({ nanos }) => nanos / (3600n * NANOS_PER_SECOND)),
  unary('method', 'getMinutes', DURATION, types.INT, ({ nanos }) => nanos / (60n * NANOS_PER_SECOND)),
  unary('method', 'getSeconds', DURATION, types.INT, ({ nanos }) => nanos / NANOS_PER_SECOND),
  unary('method', 'getMilliseconds', DURATION, types.INT, ({ nanos }) => (nanos % NANOS_PER_SECOND) / 1_000_000n),
];

/** Beyond these, a double is no integer of 64 bits. */
const [INT_DOUBLE_MAX, UINT_DOUBLE_MAX] = [2 ** 63, 2 ** 64];

const truncated = (value: number, min: number, max: number): bigint | undefined =>
  value > min && value < max ? BigInt(Math.trunc(value)) : undefined;

const integerText = (text: string): bigint | undefined =>
  /^[+-]?\d{1,20}$/.test(text) ? BigInt(text.replace(/^\+/, '')) : undefined;

function doubleText(text: string, { meter }: FunctionContext): Result {
  meter.spend(stepsOf(text.length));
  if (/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) {
    const value = Number(text);
    return Number.isFinite(value) ? value : OVERFLOW;
  }
  const special = /^([+-]?)(?:inf|infinity)$/i.exec(text);
  if (special !== null) return special[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return /^nan$/i.test(text) ? Number.NaN : failed('the argument of double() is not a number');
}

const BOOL_TEXTS: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((text) => [text, false] as const),
]);

const numbersFrom = [
  unary('function', 'int', INT, types.INT, (value) => value),
  unary('function', 'int', UINT, types.INT, ({ value }) => intOf(value)),
  unary('function', 'int', DOUBLE, types.INT, (value) => truncated(value, -INT_DOUBLE_MAX, INT_DOUBLE_MAX) ?? OVERFLOW),
  unary('function', 'int', STRING, types.INT, (text) => {
    const value = integerText(text);
    return value === undefined ? failed('the argument of int() is not an integer') : intOf(value);
  }),
  unary('function', 'int', TIMESTAMP, types.INT, ({ nanos }) => {
    const seconds = nanos / NANOS_PER_SECOND;
    return nanos % NANOS_PER_SECOND < 0n ? seconds - 1n : seconds;
  }),
  unary('function', 'uint', UINT, types.UINT, (value) => value),
  unary('function', 'uint', INT, types.UINT, uintOf),
  unary('function', 'uint', DOUBLE, types.UINT, (value) => {
    // As in cel-go: a double below 0 is out of range, also one that would be cut off to 0.
    const whole = value < 0 ? undefined : truncated(value, -1, UINT_DOUBLE_MAX);
    return whole === undefined ? OVERFLOW : uintOf(whole);
  }),
  unary('function', 'uint', STRING, types.UINT, (text) => {
    const value = /^[+-]/.test(text) ? undefined : integerText(text);
    return value === undefined ? failed('the argument of uint() is not an unsigned integer') : uintOf(value);
  }),
  unary('function', 'double', DOUBLE, types.DOUBLE, (value) => value),
  unary('function', 'double', INT, types.DOUBLE, Number),
  unary('function', 'double', UINT, types.DOUBLE, ({ value }) => Number(value)),
  unary('function', 'double', STRING, types.DOUBLE, doubleText),
];

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decodeUtf8(bytes: Uint8Array, { meter }: FunctionContext): Result {
  meter.spend(stepsOf(bytes.length));
  try {
    return utf8.decode(bytes);
  } catch {
    return failed('the argument of string() is not valid UTF-8');
  }
}

const textsFrom = [
  unary('function', 'dyn', DYN, types.DYN, (value) => value),
  unary('function', 'string', STRING, types.STRING, (value) => value),
  unary('function', 'string', BOOL, types.STRING, String),
  unary('function', 'string', INT, types.STRING, String),
  unary('function', 'string', UINT, types.STRING, ({ value }) => String(value)),
  unary('function', 'string', DOUBLE, types.STRING, (value) =>
    Number.isFinite(value) || Number.isNaN(value) ? String(value) : value > 0 ? '+Inf' : '-Inf',
  ),
  unary('function', 'string', BYTES, types.STRING, decodeUtf8),
  ...costing(TEXT_STEPS, [
    unary('function', 'string', TIMESTAMP, types.STRING, timestampText),
    unary('function', 'string', DURATION, types.STRING, durationText),
  ]),
  unary('function', 'bytes', BYTES, types.BYTES, (value) => value),
  unary('function', 'bytes', STRING, types.BYTES, (text, { meter }) => {
    meter.spend(stepsOf(text.length));
    return new Uint8Array(Buffer.from(text));
  }),
  unary('function', 'bool', BOOL, types.BOOL, (value) => value),
  unary(
    'function',
    'bool',
    STRING,
    types.BOOL,
    (text) => BOOL_TEXTS.get(text) ?? failed('the argument of bool() is neither true nor false'),
  ),
];

const timesFrom = costing(TEXT_STEPS, [
  unary('function', 'timestamp', TIMESTAMP, types.TIMESTAMP, (value) => value),
  unary('function', 'timestamp', INT, types.TIMESTAMP, (seconds) => timeOf(seconds * NANOS_PER_SECOND)),
  unary(
    'function',
    'timestamp',
    STRING,
    types.TIMESTAMP,
    (text) => parseRfc3339(text) ?? failed(timestampRefusal(text)),
  ),
  unary('function', 'duration', DURATION, types.DURATION, (value) => value),
  unary(
    'function',
    'duration',
    STRING,
    types.DURATION,
    (text) => parseDuration(text) ?? failed('the argument of duration() must be a duration such as "1h30m"'),
  ),
  unary('function', 'ipaddress', IP, types.IPADDRESS, (value) => value),
  unary(
    'function',
    'ipaddress',
    STRING,
    types.IPADDRESS,
    (text) => parseIpAddress(text) ?? failed('the argument of ipaddress() is not an IP address'),
  ),
]);

function timestampRefusal(text: string): string {
  return text.length < 40 && lacksZone(text)
    ? 'the argument of timestamp() has no time zone; append "Z" for UTC'
    : 'the argument of timestamp() must be a time such as "2026-01-31T09:00:00Z"';
}

/** Functions that read a text: with a literal, they are called when the expression is compiled. */
export const CONSTRUCTORS: ReadonlySet<string> = new Set(['timestamp', 'duration', 'ipaddress']);

const key = (name: string, isMethod: boolean): string => (isMethod ? `.${name}` : name);

const OVERLOADS: ReadonlyMap<string, readonly Overload[]> = Map.groupBy(
  [
    ...arithmetic,
    ...sums,
    ...orders,
    ...equalities,
    ...collections,
    ...sizes,
    ...texts,
    ...addresses,
    ...times,
    ...numbersFrom,
    ...textsFrom,
    ...timesFrom,
  ],
  ({ name, isMethod }) => key(name, isMethod),
);

/** Empty: there is no such function or method. */
export const overloadsOf = (name: string, isMethod: boolean): readonly Overload[] =>
  OVERLOADS.get(key(name, isMethod)) ?? [];

/** The functions or methods that an expression may call by name. */
export const functionNames = (isMethod: boolean): readonly string[] =>
  [...OVERLOADS.values()].flatMap(([first]) =>
    first !== undefined && first.isMethod === isMethod && /^[A-Za-z]/.test(first.name) ? [first.name] : [],
  );
