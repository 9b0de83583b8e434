// How many grants a tenant may have: what its plan says, to the grant, through the public interface and the operator's
// import, and what of it the operator sees.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Answer, assertProblem, call } from '../kit/http-client.ts';
import { useHttpService } from '../kit/http-service.ts';

const PLANS = {
  three: { requests: null, window_seconds: 1, grants_max: 3 },
  boundless: { requests: null, window_seconds: 1, grants_max: null },
};

const tuple = (number: number) => ({ subject: `user${number}:ada`, relation: 'viewer', object: `doc${number}:é` });
const BYTES = Buffer.byteLength('user1:ada' + 'viewer' + 'doc1:é');

describe('the limit of grants', async () => {
  const service = await useHttpService({ GRANTD_PLANS: JSON.stringify(PLANS) });
  const grant = (key: string, number: number): Promise<Answer> =>
    service.send({ method: 'POST', path: '/v1/grants', body: tuple(number), key });
  const revoke = (key: string, number: number): Promise<Answer> =>
    service.send({ method: 'DELETE', path: '/v1/grants', body: tuple(number), key });
  const operate = (options: Parameters<typeof call>[1]): Promise<Answer> =>
    call(service.consoleUrl, { ...options, key: service.operatorToken });

  async function readTenant(tenantId: string): Promise<Record<string, unknown>> {
    const answer = await operate({ method: 'GET', path: `/operator/v1/tenants/${tenantId}` });
    assert.equal(answer.status, 200, answer.text);
    return answer.json as Record<string, unknown>;
  }

  it('refuses the next new grant with 403, and takes what is there and what is revoked', async () => {
    const { tenantId, key } = await service.createTenant('three');
    for (const number of [1, 2, 3]) assert.equal((await grant(key, number)).status, 201);
    const refused = await grant(key, 4);
    assertProblem(refused, 403, 'grant-limit-reached', service.errorsBase);
    assert.match(refused.text, /allows 3 grants/);
    const namespaces = await service.send({ method: 'GET', path: '/v1/namespaces', key });
    assert.doesNotMatch(namespaces.text, /doc4/);
    const check = await service.send({ method: 'POST', path: '/v1/check', body: tuple(4), key });
    assert.match(check.text, /"authorized":false/);
    assert.equal((await grant(key, 3)).status, 200);
    const full = await readTenant(tenantId);
    assert.deepEqual([full.grants, full.grant_bytes], [3, 3 * BYTES]);
    assert.deepEqual(full.bounds, { namespaces_max: 1000, keys_max: 1000, grants_max: 3, streams_max: 100 });
    assert.equal((await revoke(key, 1)).status, 204);
    assert.equal((await readTenant(tenantId)).grants, 2);
    assert.equal((await grant(key, 4)).status, 201);
    assertProblem(await grant(key, 1), 403, 'grant-limit-reached', service.errorsBase);
    assert.equal((await revoke(key, 1)).status, 404);
  });

  it('counts a bulk write as a whole, net of what it revokes', async () => {
    const { tenantId, key } = await service.createTenant('three');
    const bulk = (grants: readonly number[], revocations: readonly number[] = []): Promise<Answer> =>
      service.send({
        method: 'POST',
        path: '/v1/grants/bulk',
        body: { grants: grants.map(tuple), revocations: revocations.map(tuple) },
        key,
      });
    const stored = async (): Promise<unknown> => (await readTenant(tenantId)).grants;
    assertProblem(await bulk([1, 2, 3, 4]), 403, 'grant-limit-reached', service.errorsBase);
    assert.equal(await stored(), 0);
    const namespaces = await service.send({ method: 'GET', path: '/v1/namespaces', key });
    assert.deepEqual(namespaces.json, { namespaces: [] });
    assert.equal((await bulk([1, 2, 3])).status, 200);
    assertProblem(await bulk([4, 5], [1]), 403, 'grant-limit-reached', service.errorsBase);
    assertProblem(await bulk([4], [5]), 403, 'grant-limit-reached', service.errorsBase);
    assert.equal(await stored(), 3);
    assert.equal((await bulk([4], [1])).status, 200);
    assert.equal((await bulk([2, 3, 4], [1])).status, 200);
    assert.equal(await stored(), 3);
    const body = { subject: 'user2:ada' };
    const revoked = await service.send({ method: 'POST', path: '/v1/grants/revoke', body, key });
    assert.deepEqual(revoked.json, { revoked: 1, complete: true });
    assert.equal((await grant(key, 5)).status, 201);
    assert.equal(await stored(), 3);
  });

  it('lets exactly as many in of many that come at once', async () => {
    const { tenantId, key } = await service.createTenant('three');
    const answers = await Promise.all(Array.from({ length: 30 }, (_, number) => grant(key, number)));
    assert.equal(answers.filter(({ status }) => status === 201).length, 3);
    assert.equal(answers.filter(({ status }) => status === 403).length, 27);
    assert.equal((await readTenant(tenantId)).grants, 3);
  });

  it('is seen in the metrics, with no tenant in them', async () => {
    const { tenantId, key } = await service.createTenant('three');
    const read = async (name: string): Promise<number> => {
      const { text } = await call(service.opsUrl, { method: 'GET', path: '/metrics' });
      assert.ok(!text.includes(tenantId));
      const line = text.split('\n').find((each) => each.startsWith(`${name} `));
      return Number(line?.split(' ')[1] ?? 0);
    };
    const refusals = 'grantd_limit_refusals_total{type="grant-limit-reached"}';
    const before = { grants: await read('grantd_grants'), refused: await read(refusals) };
    for (const number of [1, 2, 3, 4, 5]) await grant(key, number);
    assert.equal(await read('grantd_grants'), before.grants + 3);
    assert.equal(await read(refusals), before.refused + 2);
  });

  it("refuses line by line in the operator's import, and gives room with another plan", async () => {
    const { tenantId } = await service.createTenant('three');
    const lines = [1, 2, 3, 4, 3].map((number) => JSON.stringify(tuple(number)));
    const send = (): Promise<Answer> =>
      operate({
        method: 'POST',
        path: `/operator/v1/tenants/${tenantId}/import`,
        headers: { 'content-type': 'application/x-ndjson' },
        body: lines.join('\n'),
      });
    const refused = await send();
    assert.equal(refused.status, 200, refused.text);
    assert.equal(refused.text.match(/grant-limit-reached/g)?.length, 1, refused.text);
    const change = { method: 'PATCH', path: `/operator/v1/tenants/${tenantId}`, body: { plan: 'boundless' } } as const;
    assert.equal((await operate(change)).status, 200);
    assert.doesNotMatch((await send()).text, /grant-limit-reached/);
    const tenant = await readTenant(tenantId);
    assert.deepEqual(
      [tenant.grants, tenant.bounds],
      [4, { namespaces_max: 1000, keys_max: 1000, grants_max: null, streams_max: 100 }],
    );
  });
});
