// Conditions of grants, and what checks and listings bring along, through the public interface and the operator's: what
// is taken, what is refused with its place, and that a refused write changes nothing.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Answer, assertProblem, call } from '../../kit/http-client.ts';
import { oneService } from '../support/one-service.ts';

const TUPLE = { subject: 'user:ada', relation: 'viewer', object: 'document:plan' };

const service = await oneService();
const recordOf = (answer: Answer): Record<string, unknown> => answer.json as Record<string, unknown>;
const post = (key: string, path: string, body: unknown): Promise<Answer> =>
  service.send({ method: 'POST', path, body, key });
const context = (bytes: number): object => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });

describe('the condition of a grant', () => {
  it('is refused where the rules do not declare it, alone, in bulk and in an import', async () => {
    const { tenantId, key } = await service.createTenant();
    const grant = { ...TUPLE, condition: { name: 'office_hours', context: { zone: 'CET' } } };
    assertProblem(await post(key, '/v1/grants', grant), 400, 'invalid-condition', service.errorsBase);
    const bulk = { grants: [{ ...TUPLE, object: 'document:x' }, grant] };
    assertProblem(await post(key, '/v1/grants/bulk', bulk), 400, 'invalid-condition', service.errorsBase);
    const operator = { key: service.operatorToken, method: 'POST' };
    const path = `/operator/v1/tenants/${tenantId}`;
    const alone = await call(service.consoleUrl, { ...operator, path: `${path}/grants`, body: grant });
    assertProblem(alone, 400, 'invalid-condition', service.errorsBase);
    const listed = await service.send({ method: 'GET', path: '/v1/grants?subject=user:ada', key });
    assert.deepEqual(recordOf(listed).grants, []);
  });

  it('is refused with its place where it is ill-formed, and in a revocation', async () => {
    const { key } = await service.createTenant();
    const refused = async (condition: unknown, detail: RegExp): Promise<void> => {
      const answer = await post(key, '/v1/grants', { ...TUPLE, condition });
      assertProblem(answer, 400, 'invalid-request', service.errorsBase);
      assert.match(String(recordOf(answer).detail), detail);
      const bulk = await post(key, '/v1/grants/bulk', { grants: [{ ...TUPLE, condition }] });
      assertProblem(bulk, 400, 'invalid-request', service.errorsBase);
      assert.match(String(recordOf(bulk).detail), /^"grants\[0\]\.condition/);
    };
    await refused('open', /^"condition" must be an object/);
    await refused({}, /^"condition.name" must be/);
    await refused({ name: 'open', contxt: {} }, /^"condition.contxt" is unknown/);
    await refused({ name: 'open', context: context(513) }, /^"condition.context" takes 513 bytes/);
    const twice = await post(
      key,
      '/v1/grants',
      JSON.stringify({ ...TUPLE, condition: { name: 'open', context: { a: { b: 0 } } } }).replace(
        '"b":0',
        '"b":1,"b":2',
      ),
    );
    assertProblem(twice, 400, 'invalid-request', service.errorsBase);
    const revoked = await service.send({
      method: 'DELETE',
      path: '/v1/grants',
      body: { ...TUPLE, condition: { name: 'open' } },
      key,
    });
    assertProblem(revoked, 400, 'invalid-request', service.errorsBase);
    await post(key, '/v1/grants', { ...TUPLE, condition: null });
    const listed = recordOf(await service.send({ method: 'GET', path: '/v1/grants?subject=user:ada', key })).grants;
    assert.ok(Array.isArray(listed) && listed.length === 1 && !('condition' in listed[0]));
  });
});

const RULES = {
  relations: ['approver'],
  conditions: [
    {
      name: 'office_hours',
      parameters: { now: 'timestamp', zone: 'string' },
      expression: 'now.getHours(zone) >= 9 && now.getHours(zone) < 17',
    },
  ],
  rules: [
    {
      namespace: 'document',
      name: 'can_read',
      any_of: ['owner', { all_of: ['viewer', 'approver'], but_not: ['guest'] }],
    },
  ],
};

describe('a condition under rules with gates', () => {
  it('decides checks, listings and evaluations by the context of each call, and is named where it is missing', async () => {
    const { key } = await service.createTenant();
    const written = await service.send({ method: 'PUT', path: '/v1/rules', body: RULES, key });
    assert.equal(written.status, 200, written.text);
    const condition = { name: 'office_hours', context: { zone: 'Europe/Berlin' } };
    for (const grant of [
      { ...TUPLE, condition },
      { ...TUPLE, relation: 'approver' },
    ]) {
      const created = await post(key, '/v1/grants', grant);
      assert.equal(created.status, 201, created.text);
    }
    const asked = { ...TUPLE, relation: 'can_read' };
    const at = (now: string) => ({ context: { now, zone: 'UTC' } });
    const [open, closed] = [at('2026-01-15T08:30:00Z'), at('2026-01-15T20:00:00Z')];
    for (const [brought, expected] of [
      [open, true],
      [closed, false],
    ] as const) {
      assert.equal(recordOf(await post(key, '/v1/check', { ...asked, ...brought })).authorized, expected);
      const bulk = await post(key, '/v1/check/bulk', { checks: [asked, asked], ...brought });
      assert.deepEqual(recordOf(bulk).results, [{ authorized: expected }, { authorized: expected }]);
      const { subject, relation, object } = asked;
      const objects = await post(key, '/v1/objects', { subject, relation, ...brought });
      assert.deepEqual(recordOf(objects).objects, expected ? [object] : []);
      const subjects = await post(key, '/v1/subjects', { object, relation, ...brought });
      assert.deepEqual(recordOf(subjects).subjects, expected ? [subject] : []);
      const evaluation = {
        subject: { type: 'user', id: 'ada' },
        action: { name: 'can_read' },
        resource: { type: 'document', id: 'plan' },
        ...brought,
      };
      assert.equal(recordOf(await post(key, '/access/v1/evaluation', evaluation)).decision, expected);
    }
    const missing = await post(key, '/v1/check', asked);
    assertProblem(missing, 422, 'context-incomplete', service.errorsBase);
    assert.match(String(recordOf(missing).detail), /^"context" lacks "now", .*"office_hours"/);
    // A name that no rule defines is refused first, wherever it stands.
    const misnamed = await post(key, '/v1/check/bulk', { checks: [asked, { ...asked, relation: 'can_raed' }] });
    assertProblem(misnamed, 400, 'invalid-relation', service.errorsBase);
    assert.match(String(recordOf(misnamed).detail), /^"checks\[1\]\.relation" must be/);
    const wrong = await post(key, '/v1/check', { ...asked, context: { now: '2026-01-15T08:30:00' } });
    assertProblem(wrong, 400, 'invalid-request', service.errorsBase);
    assert.match(String(recordOf(wrong).detail), /"context\.now"/);
    const blocked = [{ ...TUPLE, relation: 'guest' }];
    const without = await post(key, '/v1/check', { ...asked, ...open, context_grants: blocked });
    assert.equal(recordOf(without).authorized, false);
    assert.equal(recordOf(await post(key, '/v1/check', { ...asked, ...open })).authorized, true);
    const explained = recordOf(await post(key, '/v1/check', { ...asked, ...open, explain: true }));
    assert.match(
      JSON.stringify(explained.proof),
      /"condition_saw":\{"now":"2026-01-15T08:30:00Z","zone":"Europe\/Berlin"\}/,
    );
  });

  it('refuses a number that lost digits only where a condition asks for it, in every interface', async () => {
    const { key } = await service.createTenant();
    const condition = {
      name: 'at_least',
      parameters: { level: 'int', any: 'any' },
      expression: 'level >= 3 && any != 1',
    };
    await service.send({ method: 'PUT', path: '/v1/rules', body: { conditions: [condition], rules: [] }, key });
    const lost = (body: unknown): string => JSON.stringify(body).replaceAll('"LOST"', '99999999999999999999');
    await post(key, '/v1/grants', TUPLE);
    const unused = { context: { time_ns: 'LOST', deep: [[[[[[[[[[[[[[[[[['LOST']]]]]]]]]]]]]]]]]] } };
    assert.equal(recordOf(await post(key, '/v1/check', lost({ ...TUPLE, ...unused }))).authorized, true);
    const evaluation = {
      subject: { type: 'user', id: 'ada' },
      action: { name: 'viewer' },
      resource: { type: 'document', id: 'plan' },
    };
    assert.equal(recordOf(await post(key, '/access/v1/evaluation', lost({ ...evaluation, ...unused }))).decision, true);
    const batch = { evaluations: [evaluation, { ...evaluation, ...unused }] };
    const decided = recordOf(await post(key, '/access/v1/evaluations', lost(batch))).evaluations;
    assert.deepEqual(decided, [{ decision: true }, { decision: true }]);

    const stored = { ...TUPLE, object: 'document:other', condition: { name: 'at_least', context: { any: 0 } } };
    const refused = await post(
      key,
      '/v1/grants',
      lost({ ...stored, condition: { name: 'at_least', context: { level: 'LOST' } } }),
    );
    assertProblem(refused, 400, 'invalid-condition', service.errorsBase);
    assert.match(String(recordOf(refused).detail), /^"condition\.context\.level" must be an int .* string of digits/);
    await post(key, '/v1/grants', stored);
    const question = { subject: stored.subject, relation: stored.relation, object: stored.object };
    const asked = await post(key, '/v1/check', lost({ ...question, context: { level: 'LOST' } }));
    assertProblem(asked, 400, 'invalid-request', service.errorsBase);
    assert.match(String(recordOf(asked).detail), /^"context\.level" must be an int .* string of digits/);
  });

  it('is refused by PUT if it does not compile, with the place in the expression', async () => {
    const { key } = await service.createTenant();
    const conditions = [{ name: 'open', parameters: { now: 'timestamp' }, expression: 'now.getHours(' }];
    const refused = await service.send({ method: 'PUT', path: '/v1/rules', body: { conditions, rules: [] }, key });
    assertProblem(refused, 400, 'invalid-request', service.errorsBase);
    assert.match(String(recordOf(refused).detail), /"conditions\[0\]\.expression", line 1, column 14/);
  });
});

describe('a context', () => {
  it('is taken by checks, listings and evaluations, and what no condition asks for changes nothing', async () => {
    const { key } = await service.createTenant();
    await post(key, '/v1/grants', TUPLE);
    const values = { now: '2026-01-15T09:30:00Z', more: [1, { b: null }] };
    for (const brought of [{}, { context: {} }, { context: values }, { context_grants: [] }]) {
      assert.equal(recordOf(await post(key, '/v1/check', { ...TUPLE, ...brought })).authorized, true);
      assert.equal(recordOf(await post(key, '/v1/check', { ...TUPLE, ...brought, explain: true })).authorized, true);
      const bulk = await post(key, '/v1/check/bulk', { checks: [TUPLE], ...brought });
      assert.deepEqual(recordOf(bulk).results, [{ authorized: true }]);
      const { subject, relation, object } = TUPLE;
      const objects = await post(key, '/v1/objects', { subject, relation, namespace: 'document', ...brought });
      assert.deepEqual(objects.json, { objects: ['document:plan'], next_cursor: null });
      const subjects = await post(key, '/v1/subjects', { object, relation, include: 'self', limit: 5, ...brought });
      assert.deepEqual(subjects.json, { subjects: ['user:ada'], next_cursor: null });
    }
    const asked = {
      subject: { type: 'user', id: 'ada' },
      action: { name: 'viewer' },
      resource: { type: 'document', id: 'plan' },
      context: values,
    };
    assert.equal(recordOf(await post(key, '/access/v1/evaluation', asked)).decision, true);
    const many = { ...asked, evaluations: [{}, { context: { other: 1 } }, { context: { n: 1e300 } }] };
    const decisions = recordOf(await post(key, '/access/v1/evaluations', many)).evaluations;
    assert.ok(Array.isArray(decisions));
    assert.deepEqual(
      decisions.map(({ decision }) => decision),
      [true, true, true],
    );
    const search = { ...asked, subject: { type: 'user' } };
    const found = await post(key, '/access/v1/search/subject', search);
    assert.deepEqual(recordOf(found).results, [{ type: 'user', id: 'ada' }]);
  });

  it('is refused beyond its bounds, with its place', async () => {
    const { key } = await service.createTenant();
    const { subject, relation, object } = TUPLE;
    const bodies = [
      ['/v1/check', TUPLE],
      ['/v1/check/bulk', { checks: [TUPLE] }],
      ['/v1/objects', { subject, relation }],
      ['/v1/subjects', { object, relation }],
    ] as const;
    for (const [path, body] of bodies) {
      assert.equal((await post(key, path, { ...body, context: context(32 * 1024) })).status, 200);
      const refused = async (brought: object, detail: RegExp, type = 'invalid-request'): Promise<void> => {
        const answer = await post(key, path, { ...body, ...brought });
        assertProblem(answer, 400, type, service.errorsBase);
        assert.match(String(recordOf(answer).detail), detail);
      };
      await refused({ context: context(32 * 1024 + 1) }, /^"context" takes 32769 bytes/);
      await refused({ context: [] }, /^"context" must be a JSON object/);
      await refused({ contxt: {} }, /^"contxt" is unknown; the nearest known name is "context"/);
      const grants = (count: number) => ({ context_grants: Array.from({ length: count }, () => TUPLE) });
      await refused(grants(101), /^"context_grants" holds 101 grants/, 'bulk-too-large');
      await refused(
        { context_grants: [{ ...TUPLE, expires_at: null }] },
        /^"context_grants\[0\].expires_at" is unknown/,
      );
      await refused({ context_grants: [{ ...TUPLE, object: 'x' }] }, /^"context_grants\[0\].object"/, 'invalid-object');
      const nested = (levels: number) =>
        post(
          key,
          path,
          JSON.stringify({ ...body, context: 0 }).replace(
            '"context":0',
            `"context":{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`,
          ),
        );
      assert.equal((await nested(25)).status, 200);
      assertProblem(await nested(9000), 400, 'invalid-request', service.errorsBase);
      const twice = JSON.stringify({ ...body, context: 0 }).replace('"context":0', '"context":{"a":{"b":1,"b":2}}');
      assertProblem(await post(key, path, twice), 400, 'invalid-request', service.errorsBase);
    }
  });

  it('binds the cursor of a listing, and a listing in a body pages like one in a query', async () => {
    const { key } = await service.createTenant();
    for (const id of ['a', 'b', 'c']) await post(key, '/v1/grants', { ...TUPLE, object: `document:${id}` });
    const query = { subject: TUPLE.subject, relation: TUPLE.relation, limit: 2 };
    const first = recordOf(await post(key, '/v1/objects', { ...query, context: { a: 1 } }));
    assert.deepEqual(first.objects, ['document:a', 'document:b']);
    const cursor = first.next_cursor;
    const next = recordOf(await post(key, '/v1/objects', { ...query, cursor, context: { a: 1 } }));
    assert.deepEqual(next, { objects: ['document:c'], next_cursor: null });
    for (const brought of [{}, { context: { a: 2 } }]) {
      const answer = await post(key, '/v1/objects', { ...query, cursor, ...brought });
      assertProblem(answer, 400, 'invalid-cursor', service.errorsBase);
    }
    const plain = recordOf(await post(key, '/v1/objects', query)).next_cursor;
    const path = `/v1/objects?subject=user:ada&relation=viewer&cursor=${plain}`;
    assert.deepEqual(recordOf(await service.send({ method: 'GET', path, key })).objects, ['document:c']);
    for (const limit of [0, 1001, 1.5, '2']) {
      assertProblem(await post(key, '/v1/objects', { ...query, limit }), 400, 'invalid-request', service.errorsBase);
    }
  });
});
