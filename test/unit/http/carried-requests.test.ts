// What the API accepts, the wire between front and shard carries: random requests, of everything that the schemas of
// the operations allow and of much that they do not, are answered or refused, and never fail on their way to the owner.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { z } from 'zod';
import { CALL_CONTEXT_BYTES_MAX } from '../../../src/core/call-context.ts';
import { RELATIONS } from '../../../src/core/tuples.ts';
import { OPERATIONS } from '../../../src/http/operation-table.ts';
import type { PublicOperation } from '../../../src/http/operations/operation.ts';
import { startTracedService } from '../telemetry/traced-service.ts';

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
  readonly oneOf?: readonly JsonSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
}

const LONGEST = `${'n'.repeat(64)}:${'𝕏'.repeat(256)}`;
const IDENTIFIERS = ['user:ann', 'doc:1', 'x:ü', LONGEST, `u:${'\u{10ffff}'.repeat(256)}`, 'user:*', 'team:a#member'];
const NAMES = [...RELATIONS, 'can_read', 'x'.repeat(64)];
const TIMES = [
  '0001-01-01T00:00:00Z',
  '1969-12-31T23:59:59.999Z',
  '1970-01-01T00:00:00Z',
  '1970-01-01T00:00:00.001Z',
  '2030-01-31T12:00:00+14:00',
  '2125-12-31T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
];
const CONTEXTS = [{}, { hour: 9 }, { long: 'ü'.repeat(CALL_CONTEXT_BYTES_MAX / 2 - 10) }, { 𝕏: [1e308, -0, null] }];

/** Values by the name of a member or parameter; many others are refused at once. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  subject: IDENTIFIERS,
  object: IDENTIFIERS,
  relation: NAMES,
  id: ['ann', '1', '𝕏'.repeat(256), '*'],
  type: ['user', 'doc', 'n'.repeat(64)],
  namespace: ['user', 'doc', 'n'.repeat(64)],
  name: [...NAMES, '𝕏'.repeat(256), ' '],
  condition: [undefined, { name: 'open' }, { name: 'open', context: { zone: 'ü'.repeat(100) } }],
  context: CONTEXTS,
  expires_at: [null, ...TIMES],
  since: TIMES,
  scopes: [['check:read'], ['check:read', 'grant:write', 'admin'], ['admin', 'admin']],
  cursor: [undefined, undefined, undefined, undefined, 'x'],
  limit: [undefined, 1, 1000],
  wait: [0],
  action: [undefined, 'grant.created', 'grant.created,rules.updated'],
  rules: [[], [{ namespace: 'doc', name: 'can_read', any_of: ['viewer'] }]],
  types: [undefined],
  conditions: [undefined],
  public: [undefined, ['user']],
};

/** By what the front alone sees: the owner has not heard of such a request. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413]);

function valuesOf(schema: JsonSchema, name: string, root: JsonSchema, depth = 0): fc.Arbitrary<unknown> {
  const named = VALUES[name];
  if (named !== undefined && schema.properties === undefined) return fc.constantFrom(...named);
  if (schema.$ref !== undefined) {
    const found = root.$defs?.[schema.$ref.replace('#/$defs/', '')];
    return found === undefined || depth > 4 ? fc.constant(null) : valuesOf(found, name, root, depth + 1);
  }
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const either = schema.anyOf ?? schema.oneOf;
  if (either !== undefined) return fc.oneof(...either.map((each) => valuesOf(each, name, root, depth + 1)));
  switch (schema.type) {
    case 'object': {
      const entries = Object.entries(schema.properties ?? {});
      const members = entries.map(([key, each]) => [key, valuesOf(each, key, root, depth + 1)] as const);
      return fc.record(Object.fromEntries(members), { requiredKeys: [...(schema.required ?? [])] });
    }
    case 'array': {
      const { items = {}, minItems = 0, maxItems = 100 } = schema;
      const item = valuesOf(items, `${name}[]`, root, depth + 1);
      const some = fc.array(item, { minLength: minItems, maxLength: Math.min(5, maxItems) });
      return fc.oneof(
        { weight: 4, arbitrary: some },
        { weight: 1, arbitrary: fc.array(item, { minLength: maxItems, maxLength: maxItems }) },
      );
    }
    case 'integer':
    case 'number':
      return fc.constantFrom(schema.minimum ?? 0, schema.maximum ?? 1, 1);
    case 'boolean':
      return fc.boolean();
    default:
      return fc.constantFrom('', 'x', 'true', '𝕏'.repeat(64), 'x'.repeat(schema.maxLength ?? 300));
  }
}

const jsonSchemaOf = (schema: z.ZodType): JsonSchema => z.toJSONSchema(schema, { io: 'input' }) as JsonSchema;

const given = (search: object): [string, string][] =>
  Object.entries(search).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));

/** The path, with the query, and the body of a request. */
function requestsOf({ path, query, body }: PublicOperation): fc.Arbitrary<{ path: string; body?: unknown }> {
  const parameters = jsonSchemaOf(z.object(query ?? {}));
  const bodySchema = body === undefined ? undefined : jsonSchemaOf(body.schema);
  return fc
    .record({
      version: fc.constantFrom('1', '0', '4294967295', '4294967296', '9007199254740993'),
      search: valuesOf(parameters, '', parameters),
      body: bodySchema === undefined ? fc.constant(undefined) : valuesOf(bodySchema, '', bodySchema),
      byQuery: fc.boolean(),
    })
    .map((drawn) => {
      // A request that has both is refused.
      const byQuery = bodySchema === undefined || (body?.replaceableByQuery === true && drawn.byQuery);
      const noQuery = !byQuery && body?.replaceableByQuery === true;
      const search = noQuery ? '' : `?${new URLSearchParams(given(Object(drawn.search)))}`;
      const target = `${path.replace(/\{[^}]*\}/, drawn.version)}${search}`;
      return byQuery ? { path: target } : { path: target, body: drawn.body };
    });
}

it('no request that is accepted fails on its way to the owner', async (t) => {
  const service = await startTracedService({});
  t.after(() => service.close());
  const reached = new Set<string>();
  for (const operation of OPERATIONS) {
    await fc.assert(
      fc.asyncProperty(requestsOf(operation), async (request) => {
        const { status, text } = await service.send({ method: operation.method, key: service.key, ...request });
        assert.ok(status < 500, `${operation.id}: ${status} ${text}`);
        if (!REFUSALS.has(status)) reached.add(operation.id);
      }),
      { numRuns: 40 },
    );
  }
  // Few runs refuse every request of more than one or two operations.
  assert.ok(reached.size > OPERATIONS.length - 5, `reached: ${[...reached].join(', ')}`);
});
