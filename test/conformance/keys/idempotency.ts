// The header Idempotency-Key where a repeated request would create another thing: API keys and tenants.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Answer, assertProblem, call } from '../../kit/http-client.ts';
import { oneService } from '../support/one-service.ts';

const BODY = { name: 'web', scopes: ['check:read'], expires_at: '2099-01-01T00:00:00.000Z' };

function recordOf({ json, text }: Answer): Record<string, unknown> {
  assert.ok(typeof json === 'object' && json !== null, text);
  return json as Record<string, unknown>;
}

const service = await oneService();

describe('Idempotency-Key', () => {
  const idempotent = (value: string) => ({ headers: { 'Idempotency-Key': value } });
  const createKey = (key: string, value: string, body: unknown = BODY): Promise<Answer> =>
    service.send({ method: 'POST', path: '/v1/keys', key, body, ...idempotent(value) });
  const asOperator = (method: string, path: string, body?: unknown, value?: string): Promise<Answer> =>
    call(service.consoleUrl, {
      method,
      path: `/operator/v1${path}`,
      key: service.operatorToken,
      body,
      ...(value === undefined ? {} : idempotent(value)),
    });
  const refused = (answer: Answer, status: number, code: string): Record<string, unknown> => {
    const { type, status: inBody } = recordOf(answer);
    assert.deepEqual([answer.status, inBody, String(type).split('/').at(-1)], [status, status, code], answer.text);
    return recordOf(answer);
  };
  const keysOf = async (key: string): Promise<readonly Record<string, unknown>[]> => {
    const { keys } = recordOf(await service.send({ method: 'GET', path: '/v1/keys', key }));
    assert.ok(Array.isArray(keys));
    return keys;
  };

  it('creates an API key once, and a repeat learns its id but never its text', async () => {
    const { key: admin } = await service.createTenant();
    const created = await createKey(admin, '"deploy 1"');
    assert.equal(created.status, 201);
    const { key_id, key } = recordOf(created);
    const repeated = await createKey(admin, '"deploy 1"');
    assertProblem(repeated, 409, 'already-created', service.errorsBase);
    assert.equal(recordOf(repeated).key_id, key_id);
    assert.ok(!repeated.text.includes(String(key)));
    assert.equal((await keysOf(admin)).length, 2);
    // The first key still works.
    const check = {
      method: 'POST',
      path: '/v1/check',
      body: { subject: 'user:a', relation: 'viewer', object: 'doc:1' },
    };
    assert.equal((await service.send({ ...check, key: String(key) })).status, 200);
    // Another Idempotency-Key, or none, makes another key.
    assert.equal((await createKey(admin, 'deploy-2')).status, 201);
    assert.equal((await service.send({ method: 'POST', path: '/v1/keys', key: admin, body: BODY })).status, 201);
  });

  it('creates one API key when many ask at once', async () => {
    const { key: admin } = await service.createTenant();
    const answers = await Promise.all(Array.from({ length: 20 }, () => createKey(admin, 'at-once')));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array.from({ length: 19 }, () => 409)]);
    assert.equal((await keysOf(admin)).length, 2);
  });

  it('refuses another body', async () => {
    const { key: admin } = await service.createTenant();
    assert.equal((await createKey(admin, 'a')).status, 201);
    for (const change of [{ name: 'other' }, { scopes: ['admin'] }, { expires_at: null }]) {
      const answer = await createKey(admin, 'a', { ...BODY, ...change });
      assertProblem(answer, 422, 'idempotency-key-reused', service.errorsBase);
    }
    assert.equal((await keysOf(admin)).length, 2);
  });

  it('never brings a revoked key back, nor makes another in its place', async () => {
    const { key: admin } = await service.createTenant();
    const { key_id } = recordOf(await createKey(admin, 'a'));
    assert.equal((await service.send({ method: 'DELETE', path: `/v1/keys/${key_id}`, key: admin })).status, 204);
    const repeated = await createKey(admin, 'a');
    assertProblem(repeated, 409, 'already-created', service.errorsBase);
    assert.match(String(recordOf(repeated).detail), /revoked/);
    assert.equal((await keysOf(admin)).length, 1);
  });

  it('counts for one tenant: others, and the operator, may use the same', async () => {
    const tenants = [await service.createTenant(), await service.createTenant()];
    const ids = new Set<unknown>();
    for (const { tenantId, key } of tenants) {
      ids.add(recordOf(await createKey(key, 'shared')).key_id);
      const byOperator = await asOperator('POST', `/tenants/${tenantId}/keys`, BODY, 'shared');
      assert.equal(byOperator.status, 201, byOperator.text);
      ids.add(recordOf(byOperator).key_id);
      refused(await asOperator('POST', `/tenants/${tenantId}/keys`, BODY, 'shared'), 409, 'already-created');
    }
    assert.equal(ids.size, 4);
  });

  it('that is malformed is refused, and nothing is created', async () => {
    const { key: admin } = await service.createTenant();
    for (const value of ['"a', 'a b', '"a", "b"', '""', 'x'.repeat(256)]) {
      assertProblem(await createKey(admin, value), 400, 'invalid-request', service.errorsBase);
      refused(await asOperator('POST', '/tenants', { name: 'a' }, value), 400, 'invalid-request');
    }
    assert.equal((await keysOf(admin)).length, 1);
  });

  it('creates a tenant once, and a repeat gets it', async () => {
    const create = (body: unknown = { name: 'Acme', plan: 'standard' }) => asOperator('POST', '/tenants', body, 'acme');
    const answers = await Promise.all(Array.from({ length: 10 }, () => create()));
    const ids = new Set(answers.map((answer) => recordOf(answer).tenant_id));
    assert.deepEqual([new Set(answers.map(({ status }) => status)), ids.size], [new Set([201]), 1]);
    refused(await create({ name: 'Acme' }), 422, 'idempotency-key-reused');
    refused(await create({ name: 'Other', plan: 'standard' }), 422, 'idempotency-key-reused');
    // What the tenant has become since does not matter.
    const [tenantId] = ids;
    await asOperator('PATCH', `/tenants/${tenantId}`, { name: 'Renamed', plan: 'scale' });
    const repeated = await create();
    const { tenant_id, name } = recordOf(repeated);
    assert.deepEqual([repeated.status, tenant_id, name], [201, tenantId, 'Renamed']);
    refused(await create({ name: 'Renamed', plan: 'scale' }), 422, 'idempotency-key-reused');
  });

  it('never creates a deleted tenant again', async () => {
    const create = () => asOperator('POST', '/tenants', { name: 'Brief' }, 'brief');
    const { tenant_id } = recordOf(await create());
    assert.equal((await asOperator('DELETE', `/tenants/${tenant_id}`)).status, 202);
    for (;;) {
      const repeated = await create();
      if (repeated.status === 201) {
        // Its data is still being removed.
        assert.equal(recordOf(repeated).state, 'deleting');
        continue;
      }
      refused(repeated, 409, 'already-created');
      break;
    }
  });
});
