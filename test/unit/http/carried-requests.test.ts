// What HTTP accepts, the wire between front and shard carries: requests with every bound of every member and parameter,
// at both doors, reach the handler of the shard with all that the front was given to send. Nothing is drawn: each bound
// has its request, and so has everything at its longest.

import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { Router } from 'express';
import { z } from 'zod';
import { CALL_CONTEXT_BYTES_MAX, changesGrants } from '../../../src/core/call-context.ts';
import { FEED_ACTIONS, FILTER_NAMES_MAX } from '../../../src/core/change-feed.ts';
import { CONDITION_BYTES_MAX } from '../../../src/core/grant-terms.ts';
import { isJsonObject, type JsonObject } from '../../../src/core/json-members.ts';
import { BULK_CHECKS_MAX, DEEP_MAX, WRITES_PER_CALL_MAX } from '../../../src/core/limits.ts';
import { BUILT_IN_PLANS } from '../../../src/core/plans.ts';
import { SCOPES } from '../../../src/core/scopes.ts';
import { relationOf } from '../../../src/core/tuples.ts';
import { createStaticDiscovery } from '../../../src/discovery/discovery.ts';
import { createFront } from '../../../src/front/create-front.ts';
import { FrontSession } from '../../../src/front/requests/session.ts';
import { OPERATIONS } from '../../../src/http/operation-table.ts';
import type { OperationDescription } from '../../../src/http/schema/operation-description.ts';
import { createOperatorOperations } from '../../../src/operator/api/operation-table.ts';
import { OPERATOR_API_PREFIX } from '../../../src/operator/api/operator-openapi.ts';
import { createOperatorTokens, hashOperatorToken } from '../../../src/operator/operator-tokens.ts';
import { listenConsole } from '../../../src/operator/server.ts';
import { systemClock, systemRandom } from '../../../src/roles/process/system.ts';
import type { AnyField } from '../../../src/rpc/calls/schema.ts';
import { CALLS } from '../../../src/rpc/calls/table.ts';
import { AUDIT_LOG_LIMIT_MAX } from '../../../src/rpc/protocol.ts';
import { RULES_MAX } from '../../../src/rules/rule-set.ts';
import type { CallName } from '../../../src/shard/shard.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { call } from '../../kit/http-client.ts';
import { ScriptedShard, ShardWorld } from '../../kit/scripted-shard.ts';
import { ids, listenApi, serve, silentLog, until } from '../front/harness.ts';

// ---- values ----

interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
}

const NAME = 'n'.repeat(64);
const WIDEST = '𝕏'.repeat(256);
const IDENTIFIERS = ['user:ann', 'x:ü', 'user:*', 'team:a#member', `${NAME}:${WIDEST}`];
const TIMES = [
  '0001-01-01T00:00:00Z',
  '1969-12-31T23:59:59.999Z',
  '1970-01-01T00:00:00Z',
  '1970-01-01T00:00:00.001Z',
  '2030-01-31T12:00:00+14:00',
  '9999-12-31T23:59:59.999Z',
  // As late as a grant may end.
  new Date(Date.now() + 100 * 365 * 24 * 3_600_000).toISOString(),
];
const rulesOf = (count: number): readonly object[] =>
  Array.from({ length: count }, (_, index) => ({ namespace: 'doc', name: `can_${index}`, any_of: ['viewer'] }));
/** The JSON has so many bytes. */
const contextOf = (bytes: number): object => ({ x: 'x'.repeat(bytes - '{"x":""}'.length) });

/** Values by the name of a member, a parameter or a header, the longest last. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  subject: IDENTIFIERS,
  object: IDENTIFIERS,
  relation: ['viewer', 'can_read', NAME],
  id: ['ann', '*', WIDEST],
  type: ['user', NAME],
  namespace: ['user', NAME],
  on: ['doc:viewer', Array.from({ length: FILTER_NAMES_MAX }, (_, index) => `doc:viewer${index}`).join(',')],
  name: ['viewer', NAME, WIDEST],
  condition: [null, { name: 'open' }, { name: NAME, context: contextOf(CONDITION_BYTES_MAX - NAME.length - 1) }],
  context: [{}, { hour: 9 }, { 𝕏: [1e308, -0, null] }, contextOf(8192), contextOf(CALL_CONTEXT_BYTES_MAX)],
  properties: [{}, null],
  expires_at: [null, ...TIMES],
  since: ['now', ...TIMES],
  until: TIMES,
  scopes: [['check:read'], SCOPES],
  // One is that of a listing of tenants.
  cursor: ['x', 'x'.repeat(2000), ids.create('ten')],
  token: [''],
  wait: ['0', '30'],
  action: ['grant.created', 'grant.created,grant.created', FEED_ACTIONS.join(',')],
  actor: ['system', ids.create('key'), `operator:${'~'.repeat(64)}`],
  request_id: [ids.create('req')],
  hash: ['0'.repeat(64)],
  plan: [...BUILT_IN_PLANS.keys()],
  evaluations: [
    [],
    [{ action: { name: 'viewer' } }],
    Array.from({ length: BULK_CHECKS_MAX }, (_, index) => ({ action: { name: NAME }, context: { index } })),
  ],
  relations: [[], ['reviewer']],
  states: [[], ['archived']],
  conditions: [[], [{ name: 'open', parameters: { hour: 'int' }, expression: 'hour > 8' }]],
  types: [[], [{ namespace: 'doc', relation: 'viewer', subjects: ['user', 'user:*'] }]],
  rules: [[], rulesOf(RULES_MAX)],
  public: [[], ['user']],
  deep: [
    [],
    ['folder'],
    Array.from({ length: DEEP_MAX }, (_, index) => `${NAME.slice(3)}${String(index).padStart(3, '0')}`),
  ],
  // In the path.
  version: ['1', '4294967295', '4294967296', '9007199254740993'],
  key_id: [ids.create('key')],
  slot: ['0', '3'],
  // In the header, which has at most 16 KiB.
  'If-Match': ['*', Array.from({ length: 400 }, (_, index) => `"${String(index).padStart(32, '0')}"`).join()],
  'Idempotency-Key': ['"x"', 'x'.repeat(255)],
  'Last-Event-ID': ['x'],
  Accept: ['application/json'],
};

/** The last characters of a text become a number, and it stays as long as it was if it is long. */
const numbered = (text: string, index: number): string =>
  `${[...text].slice(0, 8).join('')}${[...text].slice(8, -3).join('')}${String(index).padStart(3, '0')}`;

/** As many different items as there may be. */
const most = (item: unknown, count: number): readonly unknown[] =>
  Array.from({ length: count }, (_, index) => {
    const isTuple = isJsonObject(item) && typeof item.object === 'string';
    return isTuple ? { ...item, object: numbered(String(item.object), index) } : item;
  });

/**
 * The example with each value of each member, and what must be there with the longest of each, since not all members go
 * together. The last one has everything at its longest.
 */
function objectsOf({ properties = {}, required = [] }: JsonSchema, example?: object): object[] {
  const members = Object.entries(properties).map(([name, each]) => [name, valuesOf(each, name)] as const);
  const least = Object.fromEntries(
    members.flatMap(([name, [first]]) => (required.includes(name) ? [[name, first]] : [])),
  );
  const varied = members.flatMap(([name, values]) => values.map((value) => ({ ...(example ?? least), [name]: value })));
  const alone = example === undefined ? [] : members.map(([name, values]) => ({ ...least, [name]: values.at(-1) }));
  const longest = Object.fromEntries(members.map(([name, values]) => [name, values.at(-1)]));
  return [least, ...varied, ...alone, longest];
}

const isObject = ({ properties, anyOf = [] }: JsonSchema): boolean => properties !== undefined || anyOf.some(isObject);

function valuesOf(schema: JsonSchema, name: string): readonly unknown[] {
  if (schema.const !== undefined) return [schema.const];
  if (schema.enum !== undefined) return schema.enum;
  const named = VALUES[name];
  // In AuthZEN, some names are those of objects.
  if (named !== undefined && !(isObject(schema) && typeof named[0] === 'string')) return named;
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap((each) => valuesOf(each, name));
  switch (schema.type) {
    case 'object':
      return objectsOf(schema);
    case 'array': {
      const items = valuesOf(schema.items ?? {}, name);
      const count = schema.maxItems ?? 1;
      return [[], [items[0], items[0]], ...items.map((each) => [each]), most(items.at(-1), count)];
    }
    case 'integer':
    case 'number':
      return [schema.minimum ?? 0, schema.maximum ?? Number.MAX_SAFE_INTEGER];
    case 'boolean':
      return [false, true];
    case 'null':
      return [null];
    default:
      throw new Error(`There are no values of ${name}.`);
  }
}

const jsonSchemaOf = (schema: z.ZodType): JsonSchema =>
  z.toJSONSchema(schema, { io: 'input', reused: 'inline' }) as JsonSchema;

// ---- requests ----

interface HttpRequest {
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const searchOf = (query: unknown): string =>
  String(new URLSearchParams(Object.entries(Object(query)).map(([name, value]) => [name, String(value)])));

/** A body of lines: one, or as many as there may be. */
const linesOf = (value: unknown, count: number): string =>
  most(value, count)
    .map((each) => `${JSON.stringify(each)}\n`)
    .join('');

/** Each value of each part of a request, beside the plainest of the other parts. */
function* requestsOf(operation: OperationDescription, tenantId: string): Generator<HttpRequest> {
  const { body } = operation;
  const queries = objectsOf(jsonSchemaOf(z.object(operation.query ?? {})), operation.queryExamples);
  const query = operation.queryExamples ?? queries[0];
  const at = (search: unknown, path = operation.path): string => {
    const target = path.replace('{tenantId}', tenantId).replace(/\{(.*)\}/, (_, name) => String(VALUES[name]?.[0]));
    return `${target}?${searchOf(search)}`;
  };
  const parameter = /\{(?!tenantId)(.*)\}/.exec(operation.path)?.[1];
  const paths = (VALUES[parameter ?? ''] ?? []).map((value) => operation.path.replace(`{${parameter}}`, String(value)));
  const send = (request: HttpRequest): HttpRequest =>
    body?.lines ? { ...request, headers: { 'content-type': 'application/x-ndjson' } } : request;
  const example = body?.lines ? JSON.parse(String(body.example)) : body?.example;
  const bodyOf = (value: unknown): unknown => (body?.lines ? linesOf(value, 1) : value);
  const plain = body === undefined ? {} : { body: bodyOf(example) };
  for (const each of queries) yield send({ path: at(each), ...(body?.replaceableByQuery ? {} : plain) });
  for (const path of paths) yield send({ path: at(query, path), ...plain });
  const bare = body?.replaceableByQuery ? {} : query;
  const bodies = body === undefined ? [] : objectsOf(jsonSchemaOf(body.schema), Object(example)).map(bodyOf);
  if (body?.lines) bodies.push(linesOf(example, WRITES_PER_CALL_MAX));
  // A dry run is a call of its own.
  for (const search of 'dry_run' in (operation.query ?? {}) ? [bare, { ...bare, dry_run: 'true' }] : [bare]) {
    for (const [name, { example: given }] of Object.entries(operation.headers ?? {})) {
      for (const value of [given, ...(VALUES[name] ?? [])])
        yield send({ path: at(search), ...plain, headers: { [name]: String(value) } });
    }
    for (const value of bodies) yield send({ path: at(search), body: value });
  }
}

// ---- what the front is given, and what arrives ----

/** The same without what says nothing: a member that is not there says what false and an empty text say. */
function said(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(said);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, said(member)] as const);
  return Object.fromEntries(members.filter(([, member]) => member !== undefined && member !== '' && member !== false));
}

/** Nothing is older than the first millisecond of the clock. */
const bounded = (ms: unknown): unknown => (typeof ms === 'number' ? Math.max(1, ms) : ms);
const tupleOf = ({ subject, relation, object }: JsonObject): JsonObject => ({ subject, relation, object });

/** What calls say otherwise on the wire, on purpose. */
const SAID_OTHERWISE: { readonly [Name in CallName]?: (request: JsonObject) => JsonObject } = {
  readChanges: ({ sinceMs, ...query }) => ({ ...query, sinceMs: bounded(sinceMs) }),
  listAuditLog: ({ limit, sinceMs, untilMs, ...query }) => ({
    ...query,
    limit: Math.min(Number(limit), AUDIT_LOG_LIMIT_MAX),
    sinceMs: bounded(sinceMs),
    untilMs: bounded(untilMs),
  }),
  // An explained check, and one with a context of its own, bring that along beside the tuple.
  checkNamed: ({ checks, ...request }) => ({ ...request, checks: (checks as readonly JsonObject[]).map(tupleOf) }),
};

/** The fields of a message, behind what its value is made of; undefined: it is written by functions of its own. */
function fieldsOf({ shape }: AnyField): Readonly<Record<string, AnyField>> | undefined {
  if (shape.kind === 'message') return shape.fields;
  return shape.kind === 'converted' || shape.kind === 'default' ? fieldsOf(shape.field) : undefined;
}

const isNothing = (wire: unknown): boolean =>
  wire === undefined || wire === null || wire === '' || wire === false || wire === 0 || isDeepStrictEqual(wire, []);

interface Handlers {
  call(name: CallName, caller: object, request: unknown): unknown;
  check(handle: number, subject: string, relation: number, object: string): unknown;
  checkKnown(handle: number, check: object): unknown;
}

/** Looks at both ends of the wire. `connection`: one of the shard, whose handlers all of them share. */
function watchEnds({ mock }: TestContext, connection: object) {
  const fields = new Set<AnyField>(Object.values(CALLS).map(({ request }) => request));
  const written = [...fields].map((field) => ({ field, ends: mock.method(field, 'write').mock }));
  const questions = mock.method(FrontSession.prototype, 'check').mock;
  const handlers: Handlers = Object.getPrototypeOf(connection);
  const handled = mock.method(handlers, 'call').mock;
  const handledChecks = mock.method(handlers, 'check').mock;
  const handledNames = mock.method(handlers, 'checkKnown').mock;
  /** The members of its message that each call has carried. */
  const carried = new Map<CallName, Set<string>>();

  const compareCalls = (arrivals: readonly Arrival[], place: string): void => {
    for (const { field, ends } of written) {
      // Others are made at any time.
      if (Object.keys(fieldsOf(field) ?? { own: field }).length === 0) continue;
      const arrived = arrivals.filter(({ name }) => CALLS[name].request === field);
      for (const { arguments: given, result: wire } of ends.calls) {
        const [last] = arrived.slice(-1);
        assert.ok(last !== undefined, `${place}: a call did not arrive: ${JSON.stringify(given)}`);
        const wanted = said(sentAs(last.name, given[0]));
        const same = arrived.find(({ request }) => isDeepStrictEqual(said(request), wanted));
        if (same === undefined) assert.deepEqual(said(last.request), wanted, `${place}: ${last.name}`);
        const names = carried.get(last.name) ?? new Set();
        carried.set(last.name, names);
        for (const [name, member] of Object.entries(Object(wire))) if (!isNothing(member)) names.add(name);
      }
    }
  };

  const compareChecks = (arrivals: readonly Arrival[], place: string): void => {
    const arrived: unknown[] = [
      ...handledChecks.calls.map(({ arguments: [, subject, relation, object] }) => {
        return { subject, relation: relationOf(relation), object };
      }),
      ...handledNames.calls.map(({ arguments: [, check] }) => check),
      ...arrivals.flatMap(({ name, request }) => (name === 'checkNamed' ? [namedCheckOf(request)] : [])),
    ].map(said);
    for (const {
      arguments: [, question],
    } of questions.calls) {
      // Those are calls.
      if (changesGrants(question)) continue;
      const { context } = question;
      const wanted = said({ ...tupleOf({ ...question }), context });
      if (!arrived.some((each) => isDeepStrictEqual(each, wanted))) assert.deepEqual(arrived.at(-1), wanted, place);
    }
  };

  return {
    carried,
    /** What has been given since the last time has arrived. */
    compare(place: string): void {
      const arrivals = handled.calls.map(({ arguments: [name, , request] }): Arrival => ({ name, request }));
      for (const { name } of arrivals) carried.set(name, carried.get(name) ?? new Set());
      compareCalls(arrivals, place);
      compareChecks(arrivals, place);
      for (const each of [questions, handled, handledChecks, handledNames, ...written.map(({ ends }) => ends)])
        each.resetCalls();
    },
  };
}

interface Arrival {
  readonly name: CallName;
  readonly request: unknown;
}

const sentAs = (name: CallName, request: unknown): unknown =>
  isJsonObject(request) ? (SAID_OTHERWISE[name]?.(request) ?? request) : request;

/** A single check, which arrives as a call if memory does not decide it. */
function namedCheckOf(request: unknown): JsonObject {
  const { checks, context } = request as { readonly checks: readonly JsonObject[]; readonly context?: string };
  return { ...tupleOf(checks[0] ?? {}), context };
}

// ---- the doors ----

const TOKEN = 'an-operator-token-of-32-characters-or-more';
const OPERATOR = { name: '~'.repeat(64), sha256: hashOperatorToken(TOKEN), access: 'full' } as const;

const NO_PAGES = { prefix: '/pages', router: Router(), start() {}, close() {} };

async function openDoors(t: TestContext) {
  const world = await ShardWorld.start();
  t.after(() => world.stop());
  const shard = new ScriptedShard(world);
  // The wait is on the wire; a test has no time for it.
  shard.answers.readChanges = (query, real) => real({ ...query, waitMs: 0 });
  const server = await serve(t, shard);
  shard.own([0, 1, 2, 3], server.address);
  const parts = { clock: systemClock, random: systemRandom, log: silentLog, metrics: createMetrics() };
  const discovery = createStaticDiscovery([server.address]);
  const front = createFront({ discovery, ...parts }, { name: 'test', peer: 'front' });
  t.after(() => front.close());
  const operator = createFront({ discovery, ...parts }, { name: 'test', peer: 'console' });
  t.after(() => operator.close());
  await until(() => front.ready() && operator.ready(), 'the fronts');
  const console = await listenConsole(
    { operator: operator.operator, tokens: createOperatorTokens([OPERATOR]), ids, pages: NO_PAGES, ...parts },
    { address: '127.0.0.1:0', errorsBase: 'https://errors.example', plans: BUILT_IN_PLANS },
  );
  t.after(() => console.close());
  // In a slot that has a number.
  const tenantId = await world.createTenant([1], { plan: 'unlimited' });
  const changedId = await world.createTenant([1], { plan: 'unlimited' });
  return {
    tenantId,
    /** The tenant that is changed and deleted. */
    changedId,
    connection: shard.connect(),
    doors: [
      { url: await listenApi(t, front), key: await world.createKey(tenantId), prefix: '', operations: OPERATIONS },
      { url: console.url, key: TOKEN, prefix: OPERATOR_API_PREFIX, operations: createOperatorOperations() },
    ],
  };
}

const CHANGING = ['updateTenant', 'deleteTenant'];
/** A page of changes at the public door waits at the front, not at the shard. */
const WAITS = /^\/v1\/.*wait=[^0]/;
/** Calls that no request makes, as that of a page of the console, and members that only an own cursor sets. */
const UNSAID = [
  'authenticateAtReader',
  'snapshotGrants.cursor',
  'exportGrants.cursor',
  'listNames.cursor',
  'compareAccess',
  'readLog.afterSeq',
  'readPosition',
  'followTenant',
  'expectSlot',
  'takeSlot',
];

it('all that a request says arrives at the handler of the shard', async (t) => {
  const { tenantId, changedId, connection, doors } = await openDoors(t);
  const { compare, carried } = watchEnds(t, connection);
  for (const { url, key, prefix, operations } of doors) {
    for (const operation of operations) {
      const { id, method } = operation;
      for (const { path, ...request } of requestsOf(operation, CHANGING.includes(id) ? changedId : tenantId)) {
        if (WAITS.test(path)) continue;
        const { status, text } = await call(url, { method, key, path: `${prefix}${path}`, ...request });
        const place = `${id} ${path.slice(0, 300)} ${JSON.stringify(request).slice(0, 300)}`;
        assert.ok(status < 500, `${place}: ${status} ${text}`);
        compare(place);
      }
    }
  }
  const unsaid = Object.entries(CALLS).flatMap(([name, { request }]) => {
    const names = carried.get(name as CallName);
    if (names === undefined) return [name];
    const wireNames = Object.entries(fieldsOf(request) ?? {}).map(([member, { wireName = member }]) => wireName);
    return wireNames.filter((each) => !names.has(each)).map((each) => `${name}.${each}`);
  });
  assert.deepEqual(unsaid, UNSAID);
});
