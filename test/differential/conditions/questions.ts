// Random questions about conditions: typed expressions over all that the language has, values for their parameters,
// and parameters without a value.

import fc from 'fast-check';
import type { JsonObject } from '../../../src/core/json-members.ts';

export interface ConditionQuestion {
  readonly expression: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** Values as requests send them; without those of parameters that are missing. */
  readonly context: JsonObject;
}

/** Declared in every question. */
export const PARAMETERS = {
  b: 'bool',
  i: 'int',
  j: 'int',
  u: 'uint',
  x: 'double',
  s: 'string',
  z: 'string',
  y: 'bytes',
  t: 'timestamp',
  d: 'duration',
  ip: 'ipaddress',
  l: 'list<int>',
  w: 'list<string>',
  m: 'map<int>',
  n: 'map<list<double>>',
  a: 'any',
} as const;

const INTS = ['0', '1', '-1', '2', '7', '1000', '9007199254740993', '9223372036854775807', '-9223372036854775808'];
const UINTS = ['0', '1', '3', '9007199254740993', '9223372036854775808', '18446744073709551615'];
const DOUBLES = ['0.0', '-0.0', '1.0', '-0.5', '0.1', '2.5', '1e6', '1e21', '1e-7', '9007199254740992.0', '1e308'];
const TEXTS = [
  '',
  'a',
  'ab',
  'A',
  '1',
  '-1',
  '+1',
  '007',
  '1.5',
  '1e999',
  'true',
  'NaN',
  '-inf',
  '0x10',
  'ä',
  '𝄞',
  '1h',
];
const ZONES = ['UTC', 'Europe/Berlin', '+02:00', '-05:30', 'America/New_York', 'Nowhere/Here', '', '5:30'];
/** In milliseconds: cel-go rounds what is finer, once durations are long. */
const TIMES = [
  '1970-01-01T00:00:00Z',
  '2026-02-28T23:59:59.999Z',
  '2024-02-29T12:30:15.5+02:00',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z',
  '1969-12-31T23:59:58.001Z',
  '2026-03-29T01:30:00Z',
];
const SPANS = ['0s', '1s', '-1.5s', '90s', '1h30m', '1500ms', '1ms', '-1ms', '2562047h', '2160h0.001s'];
const ADDRESSES = ['10.0.0.1', '11.0.0.1', '192.168.1.7', '2001:db8::1', '::1', '::ffff:10.0.0.1', '0.0.0.0'];
const NETWORKS = [
  '10.0.0.0/8',
  '10.0.0.1/32',
  '0.0.0.0/0',
  '2001:db8::/32',
  '::/0',
  '::ffff:10.0.0.0/104',
  '10.0.0.0/33',
  'x',
];
const PATTERNS = ['a', '^a', 'b$', '^$', '[a-z]+', '(?i)a', '\\\\d', '.', 'a|1', '(', '^.$', '\\\\w'];

const quoted = (text: string): string => JSON.stringify(text);
const number = (text: string): number | string => (Number.isSafeInteger(Number(text)) ? Number(text) : text);

const context: fc.Arbitrary<JsonObject> = fc
  .record({
    b: fc.boolean(),
    i: fc.constantFrom(...INTS.map(number)),
    j: fc.constantFrom(...INTS.map(number)),
    u: fc.constantFrom(...UINTS.map(number)),
    x: fc.constantFrom(...DOUBLES),
    s: fc.constantFrom(...TEXTS),
    z: fc.constantFrom(...ZONES),
    y: fc.constantFrom(...['', 'a', 'ä', '\u0000'].map((text) => Buffer.from(text).toString('base64')), '/w=='),
    t: fc.constantFrom(...TIMES),
    d: fc.constantFrom(...SPANS),
    ip: fc.constantFrom(...ADDRESSES),
    l: fc.array(fc.integer({ min: -2, max: 2 }), { maxLength: 3 }),
    w: fc.array(fc.constantFrom(...TEXTS), { maxLength: 3 }),
    m: fc.dictionary(fc.constantFrom('a', 'ab', '1'), fc.integer({ min: -2, max: 2 })),
    n: fc.dictionary(fc.constantFrom('a', 'ab'), fc.array(fc.constantFrom(0, 0.5, 1e6), { maxLength: 2 })),
    a: fc.constantFrom<unknown>(null, true, 1, 0.5, -1, 'a', '', [], [0, 'a'], { a: 1 }, { a: { a: [1] } }),
  })
  .map((members): JsonObject => members);

type Type =
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'time'
  | 'span'
  | 'ip'
  | 'ints'
  | 'texts'
  | 'map'
  | 'any';
type Expressions = Record<Type, string>;
type Tie = <Key extends Type>(key: Key) => fc.Arbitrary<string>;

const from = (...texts: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...texts);

/** The template with each `{type}` replaced by an expression of that type. */
function fill(tie: Tie, template: string): fc.Arbitrary<string> {
  const types = Array.from(template.matchAll(/\{(\w+)\}/g), ([, type]) => type as Type);
  return fc.tuple(...types.map((type) => tie(type))).map((parts) => {
    let index = 0;
    return template.replaceAll(/\{\w+\}/g, () => parts[index++] ?? '');
  });
}

/** A list counts as one. The order of a map's keys is nobody's promise, so no list is made of them. */
const TEMPLATES: Readonly<Record<Type, readonly (string | readonly string[])[]>> = {
  bool: [
    '({bool} && {bool})',
    '({bool} || {bool})',
    '!({bool})',
    '({bool} ? {bool} : {bool})',
    '({bool} && {bool} || {bool})',
    ['<', '<=', '>', '>=', '==', '!='].flatMap((operator) =>
      ['int', 'uint', 'double', 'string', 'bytes', 'time', 'span', 'bool'].map(
        (type) => `({${type}} ${operator} {${type}})`,
      ),
    ),
    ['<', '>=', '=='].flatMap((operator) => [
      `(dyn({int}) ${operator} {double})`,
      `({uint} ${operator} dyn({int}))`,
      `(dyn({uint}) ${operator} dyn({double}))`,
      `({any} ${operator} {any})`,
    ]),
    '({ints} == {ints})',
    '({map} != {map})',
    '({any} == {int})',
    '({ip} == {ip})',
    '({int} in {ints})',
    '({string} in {texts})',
    '({string} in {map})',
    '({any} in {ints})',
    '({double} in [1.0, {double}])',
    '{ints}.all(i, {bool})',
    '{ints}.exists(i, {bool})',
    '{texts}.exists(s, {bool})',
    '{ints}.exists_one(i, {bool})',
    '{map}.all(s, {bool})',
    '{string}.contains({string})',
    '{string}.startsWith({string})',
    '{string}.endsWith({string})',
    '{ip}.in_cidr({string})',
    NETWORKS.slice(0, 6).map((network) => `{ip}.in_cidr(${quoted(network)})`),
    PATTERNS.filter((each) => each !== '(').map((pattern) => `{string}.matches("${pattern}")`),
    '{string}.matches({string})',
    'matches({string}, {string})',
    'has({map}.a)',
    'has(a.a)',
    'has(a.a.a)',
    'bool({string})',
    'bool({bool})',
  ],
  int: [
    ...['+', '-', '*', '/', '%'].map((operator) => `({int} ${operator} {int})`),
    '-({int})',
    '({bool} ? {int} : {int})',
    'int({uint})',
    'int({double})',
    'int({string})',
    'int({time})',
    'int({int})',
    'size({string})',
    '{string}.size()',
    'size({bytes})',
    '{ints}.size()',
    '{map}.size()',
    '{ints}[{int}]',
    '{map}[{string}]',
    '{map}.ab',
    ...[
      'FullYear',
      'Month',
      'Date',
      'DayOfMonth',
      'DayOfWeek',
      'DayOfYear',
      'Hours',
      'Minutes',
      'Seconds',
      'Milliseconds',
    ]
      .map((part) => `get${part}`)
      .flatMap((name) => [`{time}.${name}()`, `{time}.${name}(z)`, `{time}.${name}(${quoted('Europe/Berlin')})`]),
    '{span}.getHours()',
    '{span}.getMinutes()',
    '{span}.getSeconds()',
    '{span}.getMilliseconds()',
    '{span}.getMilliseconds()',
    '{span}.getMilliseconds()',
  ],
  uint: [
    ...['+', '-', '*', '/', '%'].map((operator) => `({uint} ${operator} {uint})`),
    'uint({int})',
    'uint({double})',
    'uint({string})',
    '({bool} ? {uint} : {uint})',
  ],
  double: [
    ...['+', '-', '*', '/'].map((operator) => `({double} ${operator} {double})`),
    '-({double})',
    'double({int})',
    'double({uint})',
    'double({string})',
    '({bool} ? {double} : {double})',
    'n[{string}][{int}]',
    'n.a[0]',
  ],
  string: [
    '({string} + {string})',
    '({bool} ? {string} : {string})',
    'string({int})',
    'string({uint})',
    'string({bool})',
    'string({bytes})',
    'string({string})',
    '{texts}[{int}]',
  ],
  bytes: ['({bytes} + {bytes})', 'bytes({string})'],
  time: ['({time} + {span})', '({span} + {time})', '({time} - {span})', 'timestamp({string})', 'timestamp({int})'],
  span: [
    '({span} + {span})',
    '({span} - {span})',
    '({time} - {time})',
    'duration({string})',
    '({bool} ? {span} : {span})',
  ],
  ip: ['ipaddress({string})', '({bool} ? {ip} : {ip})'],
  ints: [
    '({ints} + {ints})',
    '[{int}, {int}]',
    '{ints}.filter(j, {bool})',
    '{ints}.map(j, {int})',
    '{ints}.map(j, {bool}, {int})',
    '{texts}.map(s, {int})',
    '({bool} ? {ints} : {ints})',
  ],
  texts: [
    '({texts} + {texts})',
    '[{string}]',
    '{texts}.filter(s, {bool})',
    '{"a": 1}.map(s, {string})',
    '{ints}.map(i, {string})',
  ],
  map: ['{ {string}: {int} }', '({bool} ? {map} : {map})'],
  any: [
    '{int}',
    '{double}',
    '{string}',
    'dyn({uint})',
    '[{any}, {int}][{int}]',
    'a.a',
    'a[{int}]',
    'a["a"]',
    '[{int}, {string}]',
  ],
};

const LEAVES: Readonly<Record<Type, readonly string[]>> = {
  bool: ['b', 'true', 'false', 'b', 'a == null', 'has(m.a)'],
  int: ['i', 'j', 'i', ...INTS, 'l[0]', 'm.a'],
  uint: ['u', 'u', ...UINTS.map((each) => `${each}u`)],
  double: ['x', 'x', ...DOUBLES, 'double("NaN")', '(0.0 / 0.0)'],
  string: ['s', 's', 'z', ...TEXTS.map(quoted), ...ZONES.slice(0, 3).map(quoted)],
  bytes: ['y', 'b"a"', "b'\\xff'"],
  time: ['t', 't', ...TIMES.map((each) => `timestamp(${quoted(each)})`)],
  span: ['d', 'd', ...SPANS.map((each) => `duration(${quoted(each)})`)],
  ip: ['ip', 'ip', ...ADDRESSES.map((each) => `ipaddress(${quoted(each)})`)],
  ints: ['l', 'l', '[1, 2]', '[i, j]'],
  texts: ['w', 'w', '["a", s]'],
  map: ['m', 'm', '{"a": 1}'],
  any: ['a', 'a', 'null', 'dyn(i)', 'dyn(s)', '[]'],
};

const TYPES = Object.keys(TEMPLATES) as readonly Type[];

const expressions = fc.letrec<Expressions>((tie) => {
  const each = (template: string | readonly string[]): fc.Arbitrary<string> =>
    typeof template === 'string' ? fill(tie, template) : fc.oneof(...template.map(each));
  const arbitrary = (type: Type): fc.Arbitrary<string> =>
    fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      { weight: 1, arbitrary: from(...LEAVES[type]) },
      { weight: 2, arbitrary: fc.oneof(...TEMPLATES[type].map(each)) },
    );
  return Object.fromEntries(TYPES.map((type) => [type, arbitrary(type)])) as Record<Type, fc.Arbitrary<string>>;
});

/** Longer ones only meet the bounds of grantd. */
const LENGTH_MAX = 1000;

export const conditionQuestion: fc.Arbitrary<ConditionQuestion> = fc
  .tuple(
    fc
      .oneof({ weight: TYPES.length, arbitrary: expressions.bool }, ...TYPES.map((type) => expressions[type]))
      .filter(({ length }) => length <= LENGTH_MAX),
    context,
    fc.oneof(
      { weight: 3, arbitrary: fc.constant<string[]>([]) },
      { weight: 1, arbitrary: fc.subarray<string>(Object.keys(PARAMETERS)) },
    ),
  )
  .map(([expression, whole, missing]) => ({
    expression,
    parameters: PARAMETERS,
    context: Object.fromEntries(Object.entries(whole).filter(([name]) => !missing.includes(name))),
  }));
