// The tests of the CEL project (https://github.com/cel-expr/cel-spec, tests/simple, Apache-2.0), as the package
// @bufbuild/cel-spec publishes them, for the part of the language that conditions have.

import { tests } from '@bufbuild/cel-spec/testdata/conformance.js';
import { parseDuration, parseRfc3339 } from '../../../../src/rules/conditions/times.ts';
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  NULL,
  STRING,
  TIMESTAMP,
  UINT,
} from '../../../../src/rules/conditions/types.ts';
import {
  CelMap,
  Duration,
  isList,
  type MapKey,
  mapKey,
  Timestamp,
  Uint,
  type Value,
} from '../../../../src/rules/conditions/values.ts';

export interface CelCase {
  /** `file/section/name` */
  readonly id: string;
  readonly expression: string;
  readonly parameters: readonly { readonly name: string; readonly type: CelType }[];
  readonly values: ReadonlyMap<string, Value>;
  readonly isChecked: boolean;
  /** As `describeValue` gives it; undefined: the evaluation fails. */
  readonly expected: string | undefined;
  /** Of the expression; undefined: the test does not say. */
  readonly type: CelType | undefined;
}

/** Files of the project's tests. The others are about messages, or about extensions of the language. */
const FILES: ReadonlySet<string> = new Set([
  'basic',
  'comparisons',
  'conversions',
  'fields',
  'fp_math',
  'integer_math',
  'lists',
  'logic',
  'macros',
  'parse',
  'plumbing',
  'string',
  'timestamps',
  'type_deductions',
]);

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const objectIn = (value: unknown): Json => (isObject(value) ? value : {});
const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** What conditions do not have, as a value, a type or a part of an expression: such a test is left out. */
class NotInConditions extends Error {}

function objectValue(json: Json): Value {
  const parse = String(json['@type']).endsWith('.Timestamp')
    ? parseRfc3339
    : String(json['@type']).endsWith('.Duration')
      ? parseDuration
      : undefined;
  const value = parse?.(String(json.value));
  if (value === undefined) throw new NotInConditions('a message');
  return value;
}

function celValue(json: Json): Value {
  const [[kind, value] = []] = Object.entries(json);
  switch (kind) {
    case 'nullValue':
      return null;
    case 'boolValue':
      return value === true;
    case 'int64Value':
      return BigInt(String(value));
    case 'uint64Value':
      return new Uint(BigInt(String(value)));
    case 'doubleValue':
      return Number(value);
    case 'stringValue':
      return String(value);
    case 'bytesValue':
      return new Uint8Array(Buffer.from(String(value), 'base64'));
    case 'listValue':
      return listIn(objectIn(value).values).map((each) => celValue(objectIn(each)));
    case 'mapValue':
      return new CelMap(
        new Map(
          listIn(objectIn(value).entries).map((each) => {
            const [key, entry] = [celValue(objectIn(objectIn(each).key)), celValue(objectIn(objectIn(each).value))];
            const found: MapKey = mapKey(key) ?? '';
            return [found, { key, value: entry }];
          }),
        ),
      );
    case 'objectValue':
      return objectValue(objectIn(value));
    default:
      throw new NotInConditions(`a value of kind ${kind}`);
  }
}

/** Distinguishes values of different types, but neither 0 from -0 nor the order of a map. */
export function describeValue(value: Value): string {
  if (typeof value === 'number') return `double ${value === 0 ? 0 : value}`;
  if (value instanceof Uint) return `uint ${value.value}`;
  if (value instanceof Timestamp) return `timestamp ${value.nanos}`;
  if (value instanceof Duration) return `duration ${value.nanos}`;
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('hex')}`;
  if (value instanceof CelMap) {
    const entries = Array.from(value.entries.values(), ({ key, value: entry }) => [key, entry].map(describeValue));
    return `{${entries.map((entry) => entry.join(': ')).sort()}}`;
  }
  if (value !== null && isList(value)) return `[${value.map(describeValue).join(', ')}]`;
  return `${typeof value} ${value}`;
}

const PRIMITIVES: Readonly<Record<string, CelType>> = {
  BOOL,
  INT64: INT,
  UINT64: UINT,
  DOUBLE,
  STRING,
  BYTES,
};
const MESSAGES: Readonly<Record<string, CelType>> = {
  'google.protobuf.Duration': DURATION,
  'google.protobuf.Timestamp': TIMESTAMP,
};

function typeOf(json: Json): CelType {
  const [[kind, value] = []] = Object.entries(json);
  switch (kind) {
    case 'primitive':
      return PRIMITIVES[String(value)] ?? DYN;
    case 'null':
      return NULL;
    case 'dyn':
      return DYN;
    case 'listType':
      return { kind: 'list', element: typeOf(objectIn(objectIn(value).elemType)) };
    case 'mapType':
      return {
        kind: 'map',
        key: typeOf(objectIn(objectIn(value).keyType)),
        value: typeOf(objectIn(objectIn(value).valueType)),
      };
    case 'messageType': {
      const type = MESSAGES[String(value)];
      if (type !== undefined) return type;
      throw new NotInConditions('a message');
    }
    default:
      throw new NotInConditions(`a type of kind ${kind}`);
  }
}

/** Messages, enumerations, optional values, namespaces of functions, and types as values. */
const LEFT_OUT = /TestAllTypes|google\.protobuf|GlobalEnum|NestedEnum|proto[23]|optional|cel\.bind|\.\?|\[\?|\btype\(/;

function caseOf(id: string, test: Json): CelCase {
  const expression = String(test.expr);
  if (LEFT_OUT.test(expression) || test.container !== undefined || test.disableMacros === true) {
    throw new NotInConditions(expression);
  }
  if (test.checkOnly === true) throw new NotInConditions('only types are checked');
  const parameters = listIn(test.typeEnv).map((each) => {
    const { name, ident } = objectIn(each);
    if (!/^\w+$/.test(String(name)) || ident === undefined) throw new NotInConditions('a function or a qualified name');
    return { name: String(name), type: typeOf(objectIn(objectIn(ident).type)) };
  });
  const bindings = Object.entries(objectIn(test.bindings));
  const values = new Map(bindings.map(([name, each]) => [name, celValue(objectIn(objectIn(each).value))]));
  const result = test.typedResult === undefined ? test.value : objectIn(test.typedResult).result;
  const expected =
    test.evalError !== undefined || test.anyEvalErrors !== undefined
      ? undefined
      : result === undefined
        ? 'boolean true'
        : describeValue(celValue(objectIn(result)));
  const { deducedType } = objectIn(test.typedResult);
  const type = deducedType === undefined ? undefined : typeOf(objectIn(deducedType));
  return { id, expression, parameters, values, isChecked: test.disableCheck !== true, expected, type };
}

/** The cases in their order, and how many tests of these files are left out. */
export function celCases(): { readonly cases: readonly CelCase[]; readonly leftOut: number } {
  const cases: CelCase[] = [];
  let leftOut = 0;
  for (const file of tests.suites ?? []) {
    if (!FILES.has(file.name)) continue;
    for (const section of file.suites ?? []) {
      for (const { original } of section.tests ?? []) {
        try {
          cases.push(caseOf(`${file.name}/${section.name}/${original.name}`, original));
        } catch (error) {
          if (!(error instanceof NotInConditions)) throw error;
          leftOut += 1;
        }
      }
    }
  }
  return { cases, leftOut };
}
