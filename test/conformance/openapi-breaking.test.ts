// The comparison of two descriptions has teeth: each kind of breaking difference is refused, additions are let through.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { findBreakingChanges } from './openapi-breaking.ts';

const baseline = readFileSync(new URL('./openapi-baseline.json', import.meta.url), 'utf8');

type Node = Record<string, unknown>;

/** A document to change, and its nodes by path (`.` between names). */
const copyOf = (): Node => JSON.parse(baseline);
function nodeAt(root: Node, ...path: readonly (string | number)[]): Node {
  const found = path.reduce<unknown>((node, name) => (node as Node | undefined)?.[name], root);
  assert.ok(typeof found === 'object' && found !== null, path.join(' '));
  return found as Node;
}

/** Sets what is at the path, appends it if the path ends with `+`, or removes what is there if there is no value. */
function edit(root: Node, path: Path, value: unknown): void {
  const last = path.at(-1) ?? '';
  const parent: unknown = nodeAt(root, ...path.slice(0, -1));
  if (Array.isArray(parent) && last === '+') parent.push(value);
  else if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else if (value === undefined) delete (parent as Node)[last];
  else (parent as Node)[last] = value;
}

type Path = readonly (string | number)[];
type Edit = readonly [what: string, path: Path, value?: unknown];

const check = ['paths', '/v1/check', 'post'] as const;
const objects = ['paths', '/v1/objects', 'get'] as const;
const schemas = ['components', 'schemas'] as const;
const result = [...schemas, 'CheckResult'] as const;
const tuple = [...schemas, 'Tuple', 'properties'] as const;
const keyRequest = [...schemas, 'KeyRequest'] as const;
const limit = [...objects, 'parameters', 3, 'schema'] as const;
const errorTypes = [...schemas, 'Problem', 'properties', 'type', 'enum'] as const;

const BREAKING: readonly Edit[] = [
  ['a path removed', ['paths', '/v1/check']],
  ['a method removed', ['paths', '/v1/grants', 'delete']],
  ['a scope changed', [...check, 'security'], [{ apiKey: ['admin'] }]],
  ['a success status removed', ['paths', '/v1/grants', 'post', 'responses', '201']],
  ['an error status removed', ['paths', '/v1/grants', 'delete', 'responses', '404']],
  ['a type of error removed', [...errorTypes, 0]],
  ['a response field removed', [...result, 'properties', 'checked_at']],
  ['a response field no longer always there', [...result, 'required'], ['authorized']],
  ['the type of a response field changed', [...result, 'properties', 'authorized', 'type'], 'string'],
  [
    'a field of an element in a response removed',
    [...schemas, 'NamespaceList', 'properties', 'namespaces', 'items', 'properties', 'name'],
  ],
  ['a response field that may be null', [...schemas, 'Grant', 'properties', 'created_at', 'type'], ['string', 'null']],
  ['another media type of a response', [...check, 'responses', '200', 'content'], { 'application/xml': {} }],
  [
    'a body where there was none',
    ['paths', '/v1/grants', 'delete', 'responses', '204', 'content'],
    { 'application/json': {} },
  ],
  ['a response header removed', [...check, 'responses', '200', 'headers', 'X-Service-Request-Id']],
  ['a response header no longer always there', ['components', 'headers', 'RequestId', 'required'], false],
  ['a request field removed', [...keyRequest, 'properties', 'name']],
  ['a request field required that was optional', [...keyRequest, 'required'], ['scopes', 'name']],
  ['the type of a request field changed', [...tuple, 'subject', 'type'], 'integer'],
  ['a value of a request enum removed', [...tuple, 'relation', 'enum'], ['owner']],
  [
    'a request enum that became a string without some of its values',
    [...tuple, 'relation'],
    { type: 'string', pattern: '^owner$' },
  ],
  ['a request field limited to an enum', [...tuple, 'object', 'enum'], ['a:b']],
  ['a pattern changed', [...tuple, 'subject', 'pattern'], '^x$'],
  ['a length limited further', [...tuple, 'subject', 'maxLength'], 10],
  ['fewer elements taken', [...schemas, 'BulkCheck', 'properties', 'checks', 'maxItems'], 99],
  ['more elements needed', [...schemas, 'BulkCheck', 'properties', 'checks', 'minItems'], 1],
  ['fewer alternatives of a request field', [...keyRequest, 'properties', 'expires_at', 'anyOf'], [{ type: 'null' }]],
  ['a request body removed', [...check, 'requestBody']],
  ['a media type of a request removed', [...check, 'requestBody', 'content'], {}],
  ['a body required where there was none', [...objects, 'requestBody'], { required: true, content: {} }],
  ['a parameter removed', [...objects, 'parameters', 0]],
  ['a parameter required that was optional', [...objects, 'parameters', 2, 'required'], true],
  ['a new required parameter', [...objects, 'parameters', '+'], { name: 'x', in: 'query', required: true, schema: {} }],
  ['a smaller maximum of a parameter', [...limit, 'maximum'], 500],
  ['another default of a parameter', [...limit, 'default'], 50],
];

const ADDITIVE: readonly Edit[] = [
  ['a new path', ['paths', '/v1/new'], { get: { responses: {} } }],
  ['a new method', ['paths', '/v1/check', 'get'], { responses: {} }],
  ['a new response field', [...result, 'properties', 'reason'], { type: 'string' }],
  ['a new optional request field', [...tuple, 'caveat'], { type: 'string' }],
  ['a new value of a request enum', [...tuple, 'relation', 'enum', '+'], 'auditor'],
  ['a new optional parameter', [...objects, 'parameters', '+'], { name: 'x', in: 'query', schema: {} }],
  ['a greater maximum', [...limit, 'maximum'], 5000],
  ['a new type of error', [...errorTypes, '+'], '/errors/new'],
  ['a new response header', [...check, 'responses', '200', 'headers', 'X-New'], { schema: { type: 'string' } }],
  ['other words', [...check, 'description'], 'Other words.'],
];

const changesOf = ([, path, value]: Edit, before = copyOf()): readonly string[] => {
  const changed = structuredClone(before);
  edit(changed, path, value);
  return findBreakingChanges(before, changed);
};

describe('the comparison with the published interface', () => {
  it('finds no difference where there is none', () => assert.deepEqual(findBreakingChanges(copyOf(), copyOf()), []));
  for (const each of BREAKING) it(`refuses ${each[0]}`, () => assert.notDeepEqual(changesOf(each), []));
  for (const each of ADDITIVE) it(`lets through ${each[0]}`, () => assert.deepEqual(changesOf(each), []));

  it('refuses unknown fields refused', () => {
    const open = copyOf();
    delete nodeAt(open, ...schemas, 'Tuple').additionalProperties;
    assert.notDeepEqual(findBreakingChanges(open, copyOf()), []);
  });

  it('compares types of errors by their codes, which may become an open string but not fewer', () => {
    const opened = copyOf();
    const type = nodeAt(opened, ...errorTypes.slice(0, -1));
    const codes = Object.values(nodeAt(type, 'enum')).map((uri) => String(uri).replace('/errors/', ''));
    delete type.enum;
    type['x-error-codes'] = codes;
    assert.deepEqual(findBreakingChanges(copyOf(), opened), []);
    assert.notDeepEqual(findBreakingChanges(opened, copyOf()), []);
    const named = [...errorTypes.slice(0, -1), 'x-error-codes'];
    assert.deepEqual(changesOf(['more', [...named, '+'], 'new-one'], opened), []);
    assert.notDeepEqual(changesOf(['less', [...named, 0]], opened), []);
    const less = structuredClone(opened);
    edit(less, [...named, 0], undefined);
    assert.notDeepEqual(findBreakingChanges(copyOf(), less), []);
  });

  it('names the place of each difference', () => {
    const changed = copyOf();
    delete nodeAt(changed, ...schemas, 'CheckResult', 'properties').checked_at;
    nodeAt(changed, ...check, 'requestBody', 'content', 'application/json').schema = { type: 'array' };
    const changes = findBreakingChanges(copyOf(), changed);
    assert.ok(changes.includes('POST /v1/check 200 checked_at: removed'), changes.join('\n'));
    assert.ok(changes.includes('POST /v1/check body: type changed'), changes.join('\n'));
  });
});
