// Rate limits: section 8 of the specification. Windows are fixed and belong to the tenant.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type Answer,
  assertNoRateLimitHeaders,
  assertProblem,
  assertRateLimitHeaders,
  type CallOptions,
} from '../support/http-client.ts';
import { type HttpService, startHttpService } from '../support/http-service.ts';

const TUPLE = { subject: 'user:ada', relation: 'viewer', object: 'document:plan' };
const CHECK: CallOptions = { method: 'POST', path: '/v1/check', body: TUPLE };
const PLANS = {
  five: { requests: 5, window_seconds: 60 },
  quick: { requests: 3, window_seconds: 2 },
};

const numberOf = (answer: Answer, name: string): number => Number(answer.headers[name]);

describe('the rate limit', () => {
  let service: HttpService;
  before(async () => {
    service = await startHttpService({ GRANTD_PLANS: JSON.stringify(PLANS) });
  });
  after(() => service.stop());
  const send = (key: string, options: CallOptions = CHECK): Promise<Answer> => service.send({ ...options, key });

  it('counts down, then refuses with 429 until the window ends', async () => {
    const { key } = await service.createTenant('five');
    for (const remaining of [4, 3, 2, 1, 0]) {
      const answer = await send(key);
      assert.equal(answer.status, 200);
      assertRateLimitHeaders(answer, 5);
      assert.equal(numberOf(answer, 'x-service-ratelimit-remaining'), remaining);
      assert.ok(numberOf(answer, 'x-service-ratelimit-reset') <= 60);
    }
    const refused = await send(key);
    assertProblem(refused, 429, 'rate-limited', service.errorsBase);
    assertRateLimitHeaders(refused, 5);
    assert.equal(numberOf(refused, 'x-service-ratelimit-remaining'), 0);
    assert.ok(numberOf(refused, 'retry-after') >= numberOf(refused, 'x-service-ratelimit-reset'));
  });

  it('lets requests through again after Retry-After seconds', async () => {
    const { key } = await service.createTenant('quick');
    // At once, so that they meet one window on a busy machine, too.
    const answers = await Promise.all(Array.from({ length: 4 }, () => send(key)));
    const refused = answers.find(({ status }) => status !== 200) ?? assert.fail('one is too many');
    assertProblem(refused, 429, 'rate-limited', service.errorsBase);
    await new Promise((resolve) => setTimeout(resolve, numberOf(refused, 'retry-after') * 1000 + 20));
    const answer = await send(key);
    assert.equal(answer.status, 200);
    assert.equal(numberOf(answer, 'x-service-ratelimit-remaining'), 2);
  });

  it('counts every request of the tenant: refused ones, unknown paths, bulk checks as one, all its keys together', async () => {
    const { tenantId, key } = await service.createTenant('five');
    const { key: other } = await service.createKey(tenantId, { scopes: ['grant:write'] });
    const requests: [string, CallOptions, number][] = [
      [key, { ...CHECK, body: '{' }, 400],
      [key, { method: 'GET', path: '/v1/nothing' }, 404],
      [other, CHECK, 403],
      [
        key,
        { method: 'POST', path: '/v1/check/bulk', body: { checks: Array.from({ length: 100 }, () => TUPLE) } },
        200,
      ],
      [other, { method: 'PUT', path: '/v1/check' }, 405],
      [key, CHECK, 429],
      [other, { method: 'POST', path: '/v1/grants', body: TUPLE }, 429],
      [key, { method: 'GET', path: '/openapi.json' }, 429],
      [key, { method: 'GET', path: '/v1/nothing' }, 429],
    ];
    for (const [each, options, status] of requests) {
      assert.equal((await send(each, options)).status, status, `${options.method} ${options.path}`);
    }
  });

  it('does not touch other tenants', async () => {
    const [ada, bob] = [await service.createTenant('five'), await service.createTenant('five')];
    for (let index = 0; index < 6; index += 1) await send(ada.key);
    const answer = await send(bob.key);
    assert.equal(answer.status, 200);
    assert.equal(numberOf(answer, 'x-service-ratelimit-remaining'), 4);
  });

  it('leaves each key a reserve for revoking, 60 in 60 seconds, which no other key can use up', async () => {
    const { tenantId, key } = await service.createTenant('five');
    const leaked = await service.createKey(tenantId, { scopes: ['check:read'] });
    const revoke = (by: string) => send(by, { method: 'DELETE', path: `/v1/keys/${leaked.keyId}` });
    while ((await send(leaked.key)).status !== 429);
    while ((await send(leaked.key, { method: 'GET', path: '/v1/keys' })).status !== 429);
    for (let used = 1; used <= 60; used += 1) {
      assertProblem(await revoke(leaked.key), 403, 'insufficient-scope', service.errorsBase);
    }
    const refused = await revoke(leaked.key);
    assertProblem(refused, 429, 'rate-limited', service.errorsBase);
    assertRateLimitHeaders(refused, 60);
    assert.ok(numberOf(refused, 'retry-after') >= numberOf(refused, 'x-service-ratelimit-reset'));

    const revoked = await revoke(key);
    assert.equal(revoked.status, 204);
    assertRateLimitHeaders(revoked, 60);
    assert.equal(numberOf(revoked, 'x-service-ratelimit-remaining'), 59);
    // An unlimited plan has a bound here too.
    const { key: unlimited } = await service.createTenant('unlimited');
    assertRateLimitHeaders(await revoke(unlimited), 60);
  });

  it('counts everything else of /v1/keys in the window of the plan', async () => {
    const { key } = await service.createTenant('five');
    const requests: [CallOptions, number][] = [
      [{ method: 'GET', path: '/v1/keys' }, 200],
      [{ method: 'POST', path: '/v1/keys', body: { scopes: ['check:read'] } }, 201],
      [{ method: 'GET', path: '/v1/keys/key_00000000000000000000000000' }, 405],
      [{ method: 'DELETE', path: '/v1/keys' }, 405],
      [CHECK, 200],
      [{ method: 'GET', path: '/v1/keys' }, 429],
      [{ method: 'POST', path: '/v1/keys', body: { scopes: ['check:read'] } }, 429],
    ];
    for (const [options, status] of requests) {
      const answer = await send(key, options);
      assert.equal(answer.status, status, `${options.method} ${options.path}`);
      assertRateLimitHeaders(answer, 5);
    }
  });

  it('says nothing where a plan has none', async () => {
    const { key } = await service.createTenant('unlimited');
    assertNoRateLimitHeaders(await send(key));
    assertNoRateLimitHeaders(await send(key, { method: 'GET', path: '/v1/nothing' }));
  });

  for (const [plan, limit, seconds] of [
    ['free', 600, 60],
    ['standard', 200, 1],
    ['scale', 10_000, 1],
  ] as const) {
    it(`is ${limit} in ${seconds} s for the plan ${plan}`, async () => {
      const { key } = await service.createTenant(plan);
      const answer = await send(key);
      assertRateLimitHeaders(answer, limit);
      assert.ok(numberOf(answer, 'x-service-ratelimit-reset') <= seconds);
    });
  }

  it('of failed authentications belongs to the address: it spares a key that is known, and junk is 401 however often', async () => {
    const { tenantId, key } = await service.createTenant('unlimited');
    assert.equal((await send(key)).status, 200);
    const revoked = await service.createKey(tenantId, { scopes: ['check:read'] });
    assert.equal((await send(key, { method: 'DELETE', path: `/v1/keys/${revoked.keyId}` })).status, 204);
    for (let failures = 0; failures < 100; failures += 1) assert.equal((await send('junk')).status, 401);
    for (let failures = 0; failures < 60; failures += 1) assert.equal((await send(revoked.key)).status, 401);
    const refused = await send(revoked.key);
    assertProblem(refused, 429, 'rate-limited', service.errorsBase);
    assertRateLimitHeaders(refused, 60);
    assert.equal(numberOf(refused, 'x-service-ratelimit-remaining'), 0);
    assert.ok(numberOf(refused, 'retry-after') >= numberOf(refused, 'x-service-ratelimit-reset'));
    assert.equal((await send(key)).status, 200);
    assert.equal((await send('junk')).status, 401);
  });
});
