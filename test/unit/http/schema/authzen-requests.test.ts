// Requests of the AuthZEN interface: what is parsed by hand is within what the schemas document, and no two entities
// are one identifier.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { z } from 'zod';
import { GrantdError } from '../../../../src/core/errors.ts';
import { isIdentifier } from '../../../../src/core/tuples.ts';
import { identifierOf, parseEvaluation, parseEvaluations } from '../../../../src/http/schema/authzen-requests.ts';
import {
  actionSearchSchema,
  evaluationSchema,
  evaluationsSchema,
  resourceSearchSchema,
  subjectSearchSchema,
} from '../../../../src/http/schema/authzen-schemas.ts';
import {
  parseActionSearch,
  parseResourceSearch,
  parseSubjectSearch,
} from '../../../../src/http/schema/authzen-searches.ts';
import { anyCharacter } from '../../support/any-character.ts';

const oneOf = fc.constantFrom;
const absent = oneOf(undefined, null);
const wrong = oneOf<unknown>(null, 1, true, '', 'x', [], ['user'], [{}]);
const mostly = (value: fc.Arbitrary<unknown>, weight = 200): fc.Arbitrary<unknown> =>
  fc.oneof({ weight, arbitrary: value }, { weight: 1, arbitrary: wrong }, { weight: 1, arbitrary: absent });
const attributes = fc.oneof(absent, mostly(oneOf({}, { a: null }, { a: [1] }), 9));
const entity = mostly(
  fc.record({
    type: mostly(oneOf('user', 'record', 'team', 'a:b', '')),
    id: mostly(oneOf('1', '2', '3', 'b:c', '')),
    properties: attributes,
  }),
);
const action = mostly(fc.record({ name: mostly(oneOf('read', 'viewer', 'can read', '')), properties: attributes }));
const entities = { subject: entity, action, resource: entity, context: attributes };
const page = fc.oneof(
  absent,
  mostly(
    fc.record({
      limit: mostly(oneOf<unknown>(0, 1, 1e9, -1, 1.5, '1')),
      token: oneOf(undefined, '', 1),
      properties: attributes,
    }),
  ),
);
const evaluations = mostly(fc.array(mostly(fc.record(entities, { requiredKeys: [] })), { maxLength: 3 }), 9);
const options = fc.oneof(
  absent,
  mostly(fc.record({ evaluations_semantic: mostly(oneOf('execute_all', 'deny_on_first_deny', 'all')) })),
);

/** Undefined: refused, with an error that names a field. */
function accepted<Value>(parse: () => Value): Value | undefined {
  try {
    return parse();
  } catch (error) {
    assert.ok(error instanceof GrantdError, String(error));
    assert.match(error.message, /"(?:subject|action|resource|context|page|evaluations|options)/);
    return undefined;
  }
}

function assertDocumented(parse: (body: unknown) => unknown, schema: z.ZodType, requests: fc.Arbitrary<object>): void {
  let count = 0;
  fc.assert(
    fc.property(requests, (request) => {
      const body: unknown = JSON.parse(JSON.stringify(request));
      if (accepted(() => parse(body)) === undefined) return;
      assert.ok(schema.safeParse(body).success, JSON.stringify(body));
      count += 1;
    }),
    { numRuns: 2000 },
  );
  assert.ok(count > 100, `${count} were accepted`);
}

test('what is accepted is what the schemas document', () => {
  assertDocumented(parseEvaluation, evaluationSchema, fc.record(entities));
  assertDocumented(parseEvaluations, evaluationsSchema, fc.record({ ...entities, evaluations, options }));
  const search = fc.record({ ...entities, page });
  assertDocumented(parseSubjectSearch, subjectSearchSchema, search);
  assertDocumented(parseResourceSearch, resourceSearchSchema, search);
  assertDocumented(parseActionSearch, actionSearchSchema, search);
});

test('different entities are different identifiers', () => {
  const text = fc.string({ unit: fc.oneof(oneOf(':', 'a', 'B', '1'), anyCharacter), maxLength: 4 });
  fc.assert(
    fc.property(text, text, text, text, (type, id, otherType, otherId) => {
      const [one, other] = [identifierOf(type, id), identifierOf(otherType, otherId)];
      assert.equal(one !== undefined, !type.includes(':') && isIdentifier(`${type}:${id}`));
      if (one !== undefined && one === other) assert.deepEqual([type, id], [otherType, otherId]);
    }),
    { numRuns: 5000 },
  );
});

test('each element of a batch is parsed by itself, and of what it lacks the default is taken whole', () => {
  fc.assert(
    fc.property(
      fc.record(entities),
      fc.array(mostly(fc.record(entities, { requiredKeys: [] })), { minLength: 1, maxLength: 3 }),
      (defaults, list) => {
        const body = JSON.parse(JSON.stringify({ ...defaults, evaluations: list }));
        const parsed = accepted(() => parseEvaluations(body));
        if (parsed === undefined) return;
        assert.ok(parsed.kind === 'many');
        for (const [index, item] of parsed.items.entries()) {
          const own = body.evaluations[index];
          const { evaluations: _, ...inherited } = body;
          const isObject = typeof own === 'object' && own !== null && !Array.isArray(own);
          const alone = isObject ? accepted(() => parseEvaluation({ ...inherited, ...own })) : undefined;
          assert.deepEqual('question' in item ? item.question : undefined, alone);
        }
      },
    ),
    { numRuns: 2000 },
  );
});

test('a default context is read once, however many elements use it, and its fault is that of each of them', () => {
  let reads = 0;
  const counted = (value: unknown): object =>
    Object.defineProperty({}, 'hour', {
      enumerable: true,
      get: () => {
        reads += 1;
        return value;
      },
    });
  const item = { subject: { type: 'user', id: 'a' }, action: { name: 'read' }, resource: { type: 'doc', id: 'd' } };
  const evaluations = [...Array.from({ length: 99 }, () => item), { ...item, context: { hour: 10 } }];
  const good = parseEvaluations({ evaluations, context: counted(9) });
  assert.ok(good.kind === 'many');
  const contexts = good.items.map((each) => 'question' in each && each.question.context);
  assert.deepEqual(contexts, [...Array.from({ length: 99 }, () => '{"hour":9}'), '{"hour":10}']);
  assert.equal(reads, 1);

  const bad = parseEvaluations({ evaluations, context: counted('x'.repeat(32 * 1024)) });
  assert.ok(bad.kind === 'many');
  assert.equal(reads, 2);
  const refused = bad.items.map((each) => 'error' in each && each.error.message);
  assert.match(String(refused[0]), /^"context" takes/);
  assert.deepEqual(new Set(refused.slice(0, 99)).size, 1);
  assert.equal(refused[99], false);
});
