// Requests made from an OpenAPI description, each with one parameter or member at an extreme: every operation is
// included as soon as it is described.

import assert from 'node:assert/strict';
import { asRecord, bodiesIn, type Json, resolved, sampleOf } from './mutated-bodies.ts';

export interface ExtremeRequest {
  /** The operation, and the place and the kind of what is extreme. */
  readonly group: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly required: boolean;
  readonly example: unknown;
}

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** What selects each media type of its response. */
  readonly accepted: readonly string[];
  /** With every member. */
  readonly body: Json | undefined;
}

export function operationsIn(document: Readonly<Record<string, unknown>>): Operation[] {
  const bodies = new Map(bodiesIn(document).map((each) => [`${each.method} ${each.path}`, sampleOf(each)]));
  return Object.entries(asRecord(document.paths)).flatMap(([path, operations]) =>
    Object.entries(asRecord(operations)).map(([name, operation]): Operation => {
      const method = name.toUpperCase();
      const { parameters = [], responses } = asRecord(operation);
      const { content = {} } = asRecord(asRecord(responses)['200'] ?? {});
      assert.ok(Array.isArray(parameters));
      return {
        method,
        path,
        parameters: parameters.map((each: unknown) => {
          const { name: parameter, in: place, required, example } = resolved(each, document);
          assert.ok(typeof parameter === 'string' && (place === 'query' || place === 'header' || place === 'path'));
          return { name: parameter, in: place, required: required === true, example };
        }),
        accepted: ['*/*', ...Object.keys(asRecord(content)).slice(1)],
        body: bodies.get(`${method} ${path}`),
      };
    }),
  );
}

/** By what is extreme about them; a bounded run sends some of each kind. */
const TEXTS = {
  early: ['1969-12-31T23:59:59.999Z', '1960-01-01T00:00:00Z', '0000-01-01T00:00:00Z', '1970-01-01T00:00:00+00:01'],
  late: [
    '9999-12-31T23:59:59.999999999Z',
    '2030-01-01T00:00:00-23:59',
    '10000-01-01T00:00:00Z',
    '+275760-09-13T00:00:00Z',
  ],
  short: ['', ' ', '*', ':', '-0', '1970-01-01T00:00:00Z'],
  odd: ['user:*', 'group:a#member', '__proto__', 'null', 'NaN', 'e\u0301\u200b\u202e'],
  bound: [...[64, 65, 256].map((length) => 'x'.repeat(length)), ...['x', '😀'].map((each) => `a:${each.repeat(256)}`)],
  long: [...[257, 513, 1025, 8200].map((length) => 'x'.repeat(length)), `a:${'😀'.repeat(257)}`],
} as const;
const NUMBERS = {
  low: [-1, 0, 0.5, -1e308],
  high: [1001, 2 ** 31, 2 ** 32 + 1, 2 ** 53, 1e308],
} as const;
/** Only JSON can carry them. */
const JSON_VALUES = {
  missing: [undefined, null],
  foreign: [true, [], {}, [null]],
  unprintable: ['\u0000', 'a:\ud800'],
  huge: ['x'.repeat(1024 * 1024)],
} as const;

/** Of one value of a list, the list that names it so often. */
const REPEATS = [7, 101, 1001];

/** What stands in for a parameter, with its kind. */
function* extremeTexts(valid: string): Generator<readonly [kind: string, text: string]> {
  for (const [kind, texts] of Object.entries(TEXTS)) for (const text of texts) yield [kind, text];
  for (const [kind, numbers] of Object.entries(NUMBERS)) for (const number of numbers) yield [kind, String(number)];
  for (const count of REPEATS) yield ['repeated', Array.from({ length: count }, () => valid).join(',')];
  for (const text of [valid.slice(1), `${valid}${valid}`, valid.toUpperCase()]) yield ['mangled', text];
}

function* extremeValues(valid: Json): Generator<readonly [kind: string, value: Json | undefined]> {
  for (const [kind, values] of Object.entries({ ...TEXTS, ...NUMBERS, ...JSON_VALUES })) {
    for (const value of values) yield [kind, value];
  }
  if (!Array.isArray(valid)) return;
  for (const count of REPEATS) {
    yield ['repeated', Array.from({ length: count }, (_, index) => valid[index % valid.length] ?? null)];
  }
}

/** Begins the places of a body. */
export const BODY_PLACE = '$';

interface ChangedBody {
  /** The place and the kind of what is extreme. */
  readonly group: string;
  readonly body: Json | undefined;
}

/** The same with another value at each place in turn; undefined leaves the member out. */
function* bodiesWith(body: Json, path: string): Generator<ChangedBody> {
  for (const [kind, value] of extremeValues(body)) yield { group: `${path} ${kind}`, body: value };
  if (Array.isArray(body)) {
    for (const [index, each] of body.entries()) {
      for (const { group, body: changed } of bodiesWith(each, `${path}[${index}]`)) {
        yield { group, body: body.with(index, changed ?? null) };
      }
    }
  } else if (typeof body === 'object' && body !== null) {
    for (const [name, each] of Object.entries(body)) {
      for (const { group, body: changed } of bodiesWith(each, `${path}.${name}`)) {
        const { [name]: _, ...rest } = body as Readonly<Record<string, Json>>;
        yield { group, body: changed === undefined ? rest : { ...rest, [name]: changed } };
      }
    }
  }
}

/** Values of parameters: for those that are mandatory, and to vary the others. */
export type Samples = Readonly<Record<string, string>>;

/** The request with these parameters, each of which the operation has. */
function requestOf(operation: Operation, values: ReadonlyMap<string, string>, group: string): ExtremeRequest {
  const { method } = operation;
  let { path } = operation;
  const query: string[] = [];
  const headers: Record<string, string> = {};
  for (const { name, in: place } of operation.parameters) {
    const value = values.get(name);
    if (value === undefined) continue;
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (place === 'header') headers[name] = value;
    else query.push(`${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  }
  const body = operation.body === undefined ? {} : { body: JSON.stringify(operation.body) };
  const full = query.length === 0 ? path : `${path}?${query.join('&')}`;
  return { group: `${method} ${operation.path} ${group}`, method, path: full, headers, ...body };
}

const HEADER_TEXT = /^[\t\x20-\x7e]*$/;
/** Of the whole header: beyond it, no operation sees the request. */
const REQUEST_LINE_MAX = 12_000;

/** The request as it is valid, and then every extreme of it. */
export function* extremesOf(operation: Operation, samples: Samples): Generator<ExtremeRequest> {
  const sampleFor = ({ name, example }: Parameter): string => samples[name] ?? String(example ?? 'x');
  const needed = operation.parameters.filter((each) => each.required || each.in === 'path');
  const base = new Map(needed.map((each) => [each.name, sampleFor(each)]));
  yield requestOf(operation, base, 'as it is');
  for (const parameter of operation.parameters) {
    const { name } = parameter;
    for (const [kind, text] of extremeTexts(sampleFor(parameter))) {
      if (parameter.in === 'header' && !HEADER_TEXT.test(text)) continue;
      // A wait would only last.
      if (name === 'wait' && Number(text) > 1) continue;
      const request = requestOf(operation, new Map([...base, [name, text]]), `${name} ${kind}`);
      if (request.path.length > REQUEST_LINE_MAX) continue;
      for (const accept of operation.accepted) yield { ...request, headers: { ...request.headers, accept } };
    }
  }
  if (operation.body === undefined) return;
  for (const { group, body } of bodiesWith(operation.body, BODY_PLACE)) {
    const { body: _, ...request } = requestOf(operation, base, group);
    yield body === undefined ? request : { ...request, body: JSON.stringify(body) };
  }
}
