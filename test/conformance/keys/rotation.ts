// The rotation of API keys: an operator rotates, and the public interface serves both keys, then one.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hashApiKey } from '../../../src/core/api-keys.ts';
import { type Answer, assertProblem, call } from '../../kit/http-client.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { oneService } from '../support/one-service.ts';

const TUPLE = { subject: 'user:ada', relation: 'viewer', object: 'document:plan' };

const recordOf = (answer: Answer): Record<string, unknown> => answer.json as Record<string, unknown>;

const service = await oneService();

describe('the rotation of an API key', () => {
  const check = async (key: unknown): Promise<Answer> =>
    service.send({ method: 'POST', path: '/v1/check', body: TUPLE, key: String(key) });
  const operate = (path: string, body: unknown, idempotencyKey?: string): Promise<Answer> =>
    call(service.consoleUrl, {
      method: 'POST',
      path: `/operator/v1${path}`,
      body,
      key: service.operatorToken,
      ...(idempotencyKey === undefined ? {} : { headers: { 'Idempotency-Key': idempotencyKey } }),
    });
  /** A tenant with a key, and the path of that key for operators. */
  const createTenant = async () => {
    const { tenantId, key: admin } = await service.createTenant();
    const body = { name: 'ci', scopes: ['check:read'] };
    const created = recordOf(await service.send({ method: 'POST', path: '/v1/keys', body, key: admin }));
    return { admin, key: created.key, keyId: created.key_id, path: `/tenants/${tenantId}/keys/${created.key_id}` };
  };

  it('gives a new key that works at once, beside the former one until its end', async () => {
    const { admin, key, keyId, path } = await createTenant();
    assert.equal((await check(key)).status, 200, 'the front knows the key without an end');
    const rotated = await operate(`${path}/rotate`, { grace_seconds: 1 });
    assert.equal(rotated.status, 201, rotated.text);
    const { key: newKey, former } = recordOf(rotated) as { key: string; former: { key_id: string; ends_at: string } };
    assert.equal(former.key_id, keyId);
    assert.equal((await check(newKey)).status, 200);
    await waitFor('the former key ends', async () => {
      const askedAtMs = Date.now();
      const { status } = await check(key);
      assert.ok(status === 200 || status === 401);
      // All of it runs on one clock.
      if (askedAtMs >= Date.parse(former.ends_at)) assert.equal(status, 401);
      if (status === 401) assert.ok(Date.now() >= Date.parse(former.ends_at));
      return status === 401;
    });
    assert.equal((await check(newKey)).status, 200);
    const { keys } = recordOf(await service.send({ method: 'GET', path: '/v1/keys', key: admin }));
    const listed = (keys as { key_id: string; expires_at: string | null }[]).find(({ key_id }) => key_id === keyId);
    assert.equal(listed?.expires_at, former.ends_at);
  });

  it('without a grace ends the former key with the response', async () => {
    const { key, path } = await createTenant();
    assert.equal((await check(key)).status, 200);
    const rotated = await operate(`${path}/rotate`, { grace_seconds: 0 });
    assert.equal(rotated.status, 201, rotated.text);
    assertProblem(await check(key), 401, 'unauthorized', service.errorsBase);
    assert.equal((await check(recordOf(rotated).key)).status, 200);
    assertProblem(await operate(`${path}/rotate`, {}), 409, 'key-not-rotatable', service.errorsBase);
  });

  it('happens once, however often it is asked for with one Idempotency-Key, and never twice without', async () => {
    const { path } = await createTenant();
    const answers = await Promise.all(Array.from({ length: 8 }, () => operate(`${path}/rotate`, {}, 'deploy-1')));
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [201, ...Array.from({ length: 7 }, () => 409)]);
    const { key_id: keyId } = recordOf(answers.find(({ status }) => status === 201) ?? (answers[0] as Answer));
    const repeat = await operate(`${path}/rotate`, {}, 'deploy-1');
    assertProblem(repeat, 409, 'already-created', service.errorsBase);
    assert.equal(recordOf(repeat).key_id, keyId);
    assert.doesNotMatch(repeat.text, /gk1_/);
    assertProblem(await operate(`${path}/rotate`, {}), 409, 'key-not-rotatable', service.errorsBase);
    const other = await createTenant();
    assert.equal((await operate(`${other.path}/rotate`, {}, 'deploy-1')).status, 201, 'it counts for one tenant');
  });

  it('is no right of a key, whatever its scopes', async () => {
    const { admin, path } = await createTenant();
    const refused = await call(service.consoleUrl, {
      method: 'POST',
      path: `/operator/v1${path}/rotate`,
      body: {},
      key: admin,
    });
    assert.equal(refused.status, 401);
  });

  it('does not use a key to identify it', async () => {
    const { key, keyId, path } = await createTenant();
    const identify = async (text: string) => recordOf(await operate(`${path}/identify`, { hash: hashApiKey(text) }));
    const { key_id, matches, last_used_at } = await identify(String(key));
    assert.deepEqual([key_id, matches, last_used_at], [keyId, true, null]);
    assert.equal((await identify(`${key}0`)).matches, false);
  });
});
