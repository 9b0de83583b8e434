// Many checks or changes in one call of the operator's API.

import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { useConsole } from '../../../../kit/console-service.ts';
import { assertProblem, callOperator, type Reply } from '../../operator-call.ts';

const TUPLE = { subject: 'user:ada', relation: 'viewer', object: 'document:plan' };
const OTHER = { ...TUPLE, relation: 'editor' };

const service = await useConsole();
let id: string;
const post = (path: string, body: unknown, headers?: Record<string, string>): Promise<Reply> =>
  callOperator(service.url, 'POST', path, body, headers);

beforeEach(async () => {
  id = (await post('/tenants', { name: 'Acme' })).body.tenant_id;
});

describe('a bulk write', () => {
  test('creates and revokes at once, or not at all', async () => {
    const created = await post(`/tenants/${id}/grants/bulk`, { grants: [TUPLE, OTHER] });
    assert.equal(created.status, 200);
    assert.deepEqual(
      created.body.grants.map(({ created: isNew, relation }: { created: boolean; relation: string }) => [
        relation,
        isNew,
      ]),
      [
        ['viewer', true],
        ['editor', true],
      ],
    );
    const body = { revocations: [TUPLE, { ...TUPLE, relation: 'owner' }], if: [{ ...OTHER, exists: true }] };
    const changed = await post(`/tenants/${id}/grants/bulk`, body);
    assert.deepEqual(changed.body, { grants: [], revocations: [{ revoked: true }, { revoked: false }] });
    const unmet = await post(`/tenants/${id}/grants/bulk`, { revocations: [OTHER], if: [{ ...TUPLE, exists: true }] });
    assertProblem(unmet, 412, 'precondition-failed', /^"if\[0\]" is not met: the grant user:ada viewer document:plan/);
    assert.equal((await post(`/tenants/${id}/check`, OTHER)).body.authorized, true);
  });

  test('is refused for what is no set of changes, with its place', async () => {
    const path = `/tenants/${id}/grants/bulk`;
    assertProblem(await post(path, {}), 400, 'invalid-request', /changes nothing/);
    assertProblem(await post(path, { grants: [TUPLE, null] }), 400, 'invalid-request', /"grants\[1\]"/);
    assertProblem(await post(`${path}?x=1`, { grants: [TUPLE] }), 400, 'invalid-request', /"x"/);
    const many = { grants: Array.from({ length: 101 }, () => TUPLE) };
    assertProblem(await post(path, many), 400, 'bulk-too-large', /101 changes/);
    service.operator.namespacesMax = 1;
    const refused = await post(path, { grants: [TUPLE] });
    service.operator.namespacesMax = 1000;
    assertProblem(refused, 403, 'namespace-limit-reached');
  });

  test('takes a body of up to 1 MiB', async () => {
    const padded = (bytes: number): string => `${' '.repeat(bytes)}${JSON.stringify({ grants: [TUPLE] })}`;
    assert.equal((await post(`/tenants/${id}/grants/bulk`, padded(900 * 1024))).status, 200);
    assertProblem(await post(`/tenants/${id}/grants/bulk`, padded(1800 * 1024)), 413, 'payload-too-large');
  });
});

describe('a revocation by filter', () => {
  test('revokes the grants of a subject or on an object, and says whether any were left', async () => {
    await post(`/tenants/${id}/grants/bulk`, { grants: [TUPLE, OTHER] });
    service.operator.revokedPerCall = 1;
    const path = `/tenants/${id}/grants/revoke`;
    assert.deepEqual((await post(path, { object: TUPLE.object })).body, { revoked: 1, complete: false });
    service.operator.revokedPerCall = 1000;
    assert.deepEqual((await post(path, { subject: TUPLE.subject })).body, { revoked: 1, complete: true });
  });

  test('never means all', async () => {
    await post(`/tenants/${id}/grants`, TUPLE);
    for (const body of [{}, { relation: 'viewer' }, TUPLE, { subject: '' }, { object: null }]) {
      assert.equal((await post(`/tenants/${id}/grants/revoke`, body)).status, 400);
    }
    assert.equal((await post(`/tenants/${id}/check`, TUPLE)).body.authorized, true);
  });
});

describe('a bulk check', () => {
  test('has one result per check, in order', async () => {
    await post(`/tenants/${id}/grants`, TUPLE);
    const reply = await post(`/tenants/${id}/check/bulk`, { checks: [OTHER, TUPLE] });
    assert.equal(reply.status, 200);
    assert.deepEqual(reply.body.results, [{ authorized: false }, { authorized: true }]);
    assert.match(reply.body.checked_at, /Z$/);
  });

  test('is refused with the place of what is wrong', async () => {
    const path = `/tenants/${id}/check/bulk`;
    assertProblem(await post(path, { checks: 'all' }), 400, 'invalid-request', /"checks" must be an array/);
    assertProblem(await post(path, { checks: [TUPLE, null] }), 400, 'invalid-subject', /"checks\[1\]\.subject"/);
    const many = { checks: Array.from({ length: 101 }, () => TUPLE) };
    assertProblem(await post(path, many), 400, 'bulk-too-large', /101 checks/);
  });
});
