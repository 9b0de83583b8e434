// API keys and what they open: sections 2 and 5 of the specification.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OPERATIONS } from '../../../src/http/operation-table.ts';
import { type Answer, assertProblem, type CallOptions } from '../../kit/http-client.ts';
import { oneService } from '../support/one-service.ts';
import { requestOf } from '../support/requests.ts';

const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const KEY = /^gk1_[0-9A-Za-z]{81}$/;
const KEY_ID = /^key_[0-9a-hjkmnp-tv-z]{26}$/;
const TUPLE = { subject: 'user:ada', relation: 'viewer', object: 'document:plan' };

/** Every operation, with a request that it takes, and the scope that it needs (undefined: any valid key). */
const REQUESTS = OPERATIONS.map((operation): [CallOptions, string | undefined] => {
  const { search, path, ...request } = requestOf(operation);
  return [{ ...request, path: path + search }, operation.scope];
});

function recordOf(answer: Answer): Record<string, unknown> {
  assert.ok(typeof answer.json === 'object' && answer.json !== null, answer.text);
  return answer.json as Record<string, unknown>;
}

const service = await oneService();

describe('API keys', () => {
  const createKey = (key: string, body: unknown): Promise<Answer> =>
    service.send({ method: 'POST', path: '/v1/keys', body, key });
  const list = (key: string, query = ''): Promise<Answer> =>
    service.send({ method: 'GET', path: `/v1/keys${query}`, key });
  const revoke = (key: string, keyId: string): Promise<Answer> =>
    service.send({ method: 'DELETE', path: `/v1/keys/${keyId}`, key });
  const refuses = async (options: CallOptions, status: number, type: string): Promise<string> =>
    assertProblem(await service.send(options), status, type, service.errorsBase);

  it('are created with 201 and shown once', async () => {
    const { key: admin } = await service.createTenant();
    const created = await createKey(admin, { name: 'web', scopes: ['grant:write', 'check:read'] });
    assert.equal(created.status, 201);
    const { key_id, key, created_at, ...rest } = recordOf(created);
    assert.deepEqual(rest, { name: 'web', scopes: ['check:read', 'grant:write'], expires_at: null });
    assert.match(String(key_id), KEY_ID);
    assert.match(String(key), KEY);
    assert.match(String(created_at), TIMESTAMP);
    assert.equal(
      (await service.send({ method: 'POST', path: '/v1/check', body: TUPLE, key: String(key) })).status,
      200,
    );

    const listed = await list(admin);
    assert.ok(!listed.text.includes('gk1_'));
    const { keys, next_cursor } = recordOf(listed);
    assert.equal(next_cursor, null);
    assert.ok(Array.isArray(keys));
    const record = keys.find((each) => each.key_id === key_id);
    const { last_used_at, ...asCreated } = record;
    assert.deepEqual(asCreated, { key_id, created_at, ...rest });
    assert.ok(last_used_at === null || TIMESTAMP.test(last_used_at));
  });

  it('are listed page by page', async () => {
    const { key: admin } = await service.createTenant();
    const ids = new Set<unknown>();
    for (let index = 0; index < 4; index += 1) {
      ids.add(recordOf(await createKey(admin, { name: `k${index}`, scopes: ['admin'] })).key_id);
    }
    const listed: unknown[] = [];
    for (let cursor = ''; ; ) {
      const page = recordOf(await list(admin, `?limit=2${cursor}`));
      assert.ok(Array.isArray(page.keys));
      listed.push(...page.keys.map((each: { key_id: unknown }) => each.key_id));
      if (page.next_cursor === null) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    assert.equal(listed.length, 5);
    assert.equal(new Set(listed).size, 5);
    for (const id of ids) assert.ok(listed.includes(id));
  });

  it('may have a name of 256 code points, none, and a moment at which they end', async () => {
    const { key: admin } = await service.createTenant();
    const cases: [Record<string, unknown>, Record<string, unknown>][] = [
      [{ name: '😀'.repeat(256) }, { name: '😀'.repeat(256), expires_at: null }],
      [{}, { name: '', expires_at: null }],
      [{ expires_at: null }, { expires_at: null }],
      [{ expires_at: '2099-01-01T02:00:00+02:00' }, { expires_at: '2099-01-01T00:00:00.000Z' }],
      [{ expires_at: '2099-01-01T00:00:00.5Z' }, { expires_at: '2099-01-01T00:00:00.500Z' }],
    ];
    for (const [request, expected] of cases) {
      const created = await createKey(admin, { scopes: ['admin'], ...request });
      assert.equal(created.status, 201, created.text);
      for (const [name, value] of Object.entries(expected)) assert.equal(recordOf(created)[name], value);
    }
  });

  it('are not created from a bad request', async () => {
    const { key: admin } = await service.createTenant();
    const cases: [unknown, RegExp][] = [
      [{}, /^"scopes" must be/],
      [{ scopes: null }, /^"scopes" must be/],
      [{ scopes: 'admin' }, /^"scopes" must be/],
      [{ scopes: [] }, /^"scopes" must not be empty/],
      [{ scopes: Array(4000).fill('x') }, /^"scopes" must not repeat a scope; it has 4000, and only 3 exist\.$/],
      [{ scopes: ['root'] }, /^"scopes\[0\]" must be one of/],
      [{ scopes: ['admin', 'admin'] }, /^"scopes" must not repeat/],
      [{ scopes: ['admin'], name: 1 }, /^"name" must be/],
      [{ scopes: ['admin'], name: null }, /^"name" must be/],
      [{ scopes: ['admin'], name: 'a\u0000b' }, /^"name" must be/],
      [{ scopes: ['admin'], name: 'x'.repeat(257) }, /^"name" must be/],
      [{ scopes: ['admin'], expires_at: '2020-01-01T00:00:00Z' }, /^"expires_at" must be a moment in the future/],
      [{ scopes: ['admin'], expires_at: '2099-01-01' }, /^"expires_at" must be an ISO 8601/],
      [{ scopes: ['admin'], expires_at: '2099-01-01T00:00:00' }, /^"expires_at" must be an ISO 8601/],
      [{ scopes: ['admin'], expires_at: 4_000_000_000 }, /^"expires_at" must be an ISO 8601/],
      [{ scopes: ['admin'], expires_at: '' }, /^"expires_at" must be an ISO 8601/],
    ];
    for (const [body, detail] of cases) {
      assert.match(
        await refuses({ method: 'POST', path: '/v1/keys', body, key: admin }, 400, 'invalid-request'),
        detail,
      );
    }
    assert.equal((recordOf(await list(admin)).keys as unknown[]).length, 1);
  });

  it('are revoked with 204, at once and for good', async () => {
    const { tenantId, key: admin } = await service.createTenant();
    const { keyId, key } = await service.createKey(tenantId, { scopes: ['check:read'] });
    assert.equal((await service.send({ method: 'GET', path: '/v1/namespaces', key })).status, 200);
    const revoked = await revoke(admin, keyId);
    assert.equal(revoked.status, 204);
    assert.equal(revoked.text, '');
    for (const path of ['/v1/namespaces', '/v1/nothing', '/openapi.json']) {
      await refuses({ method: 'GET', path, key }, 401, 'unauthorized');
    }
    assertProblem(await revoke(admin, keyId), 404, 'key-not-found', service.errorsBase);
    assert.ok(!(await list(admin)).text.includes(keyId));
  });

  it('can revoke themselves', async () => {
    const { tenantId } = await service.createTenant();
    const { keyId, key } = await service.createKey(tenantId, { scopes: ['admin'] });
    assert.equal((await revoke(key, keyId)).status, 204);
    assertProblem(await list(key), 401, 'unauthorized', service.errorsBase);
  });

  it('of another tenant and ill-formed ids are not found', async () => {
    const { key: admin } = await service.createTenant();
    const other = await service.createTenant();
    const { keyId, key } = await service.createKey(other.tenantId, { scopes: ['check:read'] });
    for (const id of [keyId, 'x', 'key_', keyId.toUpperCase(), `${keyId}x`, '%F0%9F%98%80', '..%2f..', 'key_%00']) {
      assertProblem(await revoke(admin, id), 404, 'key-not-found', service.errorsBase);
    }
    assert.equal((await service.send({ method: 'GET', path: '/v1/namespaces', key })).status, 200);
  });

  it('end at the moment they say', async () => {
    const { tenantId } = await service.createTenant();
    // Long enough, on this machine, to make it and to use it once.
    const beginMs = Date.now();
    await service.createKey(tenantId, { scopes: ['check:read'] });
    const endsAtMs = Date.now() + Math.max(1500, 20 * (Date.now() - beginMs));
    const { key } = await service.createKey(tenantId, {
      scopes: ['check:read'],
      expires_at: new Date(endsAtMs).toISOString(),
    });
    assert.equal((await service.send({ method: 'GET', path: '/v1/namespaces', key })).status, 200);
    for (;;) {
      const startedAtMs = Date.now();
      const { status } = await service.send({ method: 'POST', path: '/v1/check', body: TUPLE, key });
      if (status === 401) {
        assert.ok(Date.now() >= endsAtMs, 'not before');
        break;
      }
      assert.equal(status, 200);
      assert.ok(startedAtMs < endsAtMs + 250, 'not long after');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });

  it('open what their scopes say and nothing else', async () => {
    const { tenantId } = await service.createTenant();
    for (const scope of ['check:read', 'grant:write', 'admin']) {
      const { key } = await service.createKey(tenantId, { scopes: [scope] });
      for (const [options, needed] of REQUESTS) {
        const answer = await service.send({ ...options, key });
        if (needed === undefined || needed === scope) {
          assert.ok([200, 201, 204, 404, 412].includes(answer.status), `${options.path} ${answer.text}`);
        } else {
          const detail = assertProblem(answer, 403, 'insufficient-scope', service.errorsBase);
          assert.ok(detail.includes(needed));
        }
      }
    }
  });

  it('that are missing, junk, cut short or altered open nothing', async () => {
    const { key } = await service.createTenant();
    const last = key.at(-1) === 'A' ? 'B' : 'A';
    const headers: string[] = [
      '',
      'Bearer',
      'Basic dTpw',
      `Basic ${key}`,
      key,
      'Bearer junk',
      `Bearer ${key.slice(0, -1)}`,
      `Bearer ${key}A`,
      `Bearer ${key.slice(0, -1)}${last}`,
      `Bearer ${key.toLowerCase()}`,
      `Bearer ${key} ${key}`,
      `Bearer "${key}"`,
    ];
    for (const authorization of headers) {
      await refuses(
        { method: 'POST', path: '/v1/check', body: TUPLE, headers: { authorization } },
        401,
        'unauthorized',
      );
    }
  });

  it('are asked for by every operation', async () => {
    for (const [options] of REQUESTS) await refuses(options, 401, 'unauthorized');
  });

  it('of a suspended tenant open nothing until it is resumed', async () => {
    const { tenantId, key } = await service.createTenant();
    const fresh = await service.createKey(tenantId, { scopes: ['check:read', 'grant:write', 'admin'] });
    await service.send({ method: 'POST', path: '/v1/check', body: TUPLE, key });
    await service.setState(tenantId, 'suspended');
    for (const [options] of REQUESTS) {
      for (const each of [key, fresh.key]) await refuses({ ...options, key: each }, 403, 'tenant-suspended');
    }
    await refuses({ method: 'GET', path: '/v1/nothing', key }, 403, 'tenant-suspended');
    await refuses({ method: 'PUT', path: '/v1/check', key }, 403, 'tenant-suspended');
    await service.setState(tenantId, 'active');
    assert.equal((await service.send({ method: 'POST', path: '/v1/check', body: TUPLE, key })).status, 200);
  });
});
