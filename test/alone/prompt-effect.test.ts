// What an operator or a key's end changes is in force within seconds, also for clients that would never ask again: a
// stream of changes ends, and a tenant that is refused hears of its new plan.

import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { ChangeReader } from '../conformance/support/change-streams.ts';
import { call } from '../kit/http-client.ts';
import { type HttpService, startHttpService } from '../kit/http-service.ts';
import { judgeTimes, Strain } from '../kit/strain.ts';
import { waitFor } from '../kit/wait-for.ts';

const STREAM_MS_MAX = 1000;
const PLAN_MS_MAX = 5000;
const KEY_LIFE_MS = 4000;
const PLANS = JSON.stringify({ few: { requests: 1, window_seconds: 600 } });

describe('within seconds', () => {
  let service: HttpService;
  before(async () => {
    service = await startHttpService({ GRANTD_PLANS: PLANS });
  });
  after(() => service?.stop());

  async function follow(t: TestContext, key: string): Promise<ChangeReader> {
    const reader = await ChangeReader.open(service, { key });
    t.after(() => reader.close());
    await reader.until('the first checkpoint', () => reader.checkpoints === 1);
    return reader;
  }

  const ENDS: [string, (own: { tenantId: string; key: string; keyId: string }) => Promise<unknown>][] = [
    [
      'its key is revoked',
      async ({ key, keyId }) => {
        const { status } = await service.send({ method: 'DELETE', path: `/v1/keys/${keyId}`, key });
        assert.equal(status, 204);
      },
    ],
    ['its tenant is suspended', ({ tenantId }) => service.setState(tenantId, 'suspended')],
  ];
  for (const [what, end] of ENDS) {
    it(`a stream ends once ${what}`, async (t) => {
      const { tenantId, key } = await service.createTenant();
      const own = await service.createKey(tenantId, { scopes: ['check:read'] });
      const reader = await follow(t, own.key);
      using strain = new Strain();
      await end({ tenantId, key, keyId: own.keyId });
      const endedMs = performance.now();
      await waitFor('the end', () => reader.ended);
      const tookMs = performance.now() - endedMs;
      assert.equal(reader.retryMs, undefined);
      judgeTimes(strain.take(), () => assert.ok(tookMs < STREAM_MS_MAX, `${tookMs} ms`));
    });
  }

  it('a stream ends once its key has expired', async (t) => {
    const { tenantId } = await service.createTenant();
    const expiresAtMs = Date.now() + KEY_LIFE_MS;
    const expiry = { scopes: ['check:read'], expires_at: new Date(expiresAtMs).toISOString() };
    const { key } = await service.createKey(tenantId, expiry);
    using strain = new Strain();
    const reader = await follow(t, key);
    await waitFor('the end', () => reader.ended);
    const tookMs = Date.now() - expiresAtMs;
    assert.ok(tookMs >= 0, 'not before');
    judgeTimes(strain.take(), () => assert.ok(tookMs < STREAM_MS_MAX, `${tookMs} ms`));
  });

  it('a plan that the operator changes holds for a tenant of whose requests none is let through', async () => {
    const { tenantId, key } = await service.createTenant('few');
    const ask = () => service.send({ method: 'GET', path: '/v1/namespaces', key });
    await ask();
    assert.equal((await ask()).status, 429);
    using strain = new Strain();
    const path = `/operator/v1/tenants/${tenantId}`;
    const change = { method: 'PATCH', path, key: service.operatorToken, body: { plan: 'scale' } };
    assert.equal((await call(service.consoleUrl, change)).status, 200);
    const changedMs = performance.now();
    await waitFor('a request to be let through', async () => (await ask()).status === 200);
    const tookMs = performance.now() - changedMs;
    judgeTimes(strain.take(), () => assert.ok(tookMs < PLAN_MS_MAX, `${tookMs} ms`));
  });
});
