// Rate limits: section 8 of the specification. Windows are fixed and belong to the tenant.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Answer,
  assertNoRateLimitHeaders,
  assertProblem,
  assertRateLimitHeaders,
  type CallOptions,
} from '../kit/http-client.ts';
import { useHttpService } from '../kit/http-service.ts';

const TUPLE = { subject: 'user:ada', relation: 'viewer', object: 'document:plan' };
const CHECK: CallOptions = { method: 'POST', path: '/v1/check', body: TUPLE };
const PLANS = {
  five: { requests: 5, window_seconds: 60 },
  quick: { requests: 3, window_seconds: 2 },
};

/** As requests commonly come, and with a header that only Node's server reads. */
const WAYS_IN: readonly Record<string, string>[] = [{}, { 'proxy-connection': 'keep-alive' }];
const STATE_OF_A_REFUSAL = [
  'retry-after',
  'x-service-ratelimit-limit',
  'x-service-ratelimit-remaining',
  'x-service-ratelimit-reset',
] as const;

interface OpenApi {
  readonly paths: Record<string, Record<string, { readonly responses: Record<string, { readonly headers: object }> }>>;
}

const numberOf = (answer: Answer, name: string): number => Number(answer.headers[name]);

describe('the rate limit', async () => {
  const service = await useHttpService({ GRANTD_PLANS: JSON.stringify(PLANS) });
  const send = (key: string, options: CallOptions = CHECK): Promise<Answer> => service.send({ ...options, key });
  const assertRefused = (answer: Answer, limit: number, what: string): void => {
    assertProblem(answer, 429, 'rate-limited', service.errorsBase);
    assertRateLimitHeaders(answer, limit);
    assert.equal(numberOf(answer, 'x-service-ratelimit-remaining'), 0, what);
    assert.ok(numberOf(answer, 'retry-after') >= numberOf(answer, 'x-service-ratelimit-reset'), what);
  };

  it('counts down, then refuses with 429 until the window ends', async () => {
    const { key } = await service.createTenant('five');
    for (const remaining of [4, 3, 2, 1, 0]) {
      const answer = await send(key);
      assert.equal(answer.status, 200);
      assertRateLimitHeaders(answer, 5);
      assert.equal(numberOf(answer, 'x-service-ratelimit-remaining'), remaining);
      assert.ok(numberOf(answer, 'x-service-ratelimit-reset') <= 60);
    }
    assertRefused(await send(key), 5, 'a check');
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
    assertRefused(await revoke(leaked.key), 60, 'a revocation');

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

  it('is told by every operation in the same way, whoever reads the request: a 429 with Retry-After and the state of the limit', async () => {
    const { tenantId, key } = await service.createTenant('five');
    const leaked = await service.createKey(tenantId, { scopes: ['check:read'] });
    const { json } = await service.send({ method: 'GET', path: '/openapi.json', key: service.key });
    const { paths } = json as OpenApi;
    const operations = Object.entries(paths).flatMap(([path, byMethod]) =>
      Object.entries(byMethod).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
    );
    assert.ok(operations.length >= 10);
    while ((await send(key)).status !== 429);
    const revocation = { method: 'DELETE', path: `/v1/keys/${leaked.keyId}` };
    while ((await send(leaked.key, revocation)).status !== 429);
    for (const { path, method, operation } of operations) {
      const { headers: documented } = operation.responses['429'] ?? assert.fail(`${method} ${path} documents no 429`);
      for (const name of STATE_OF_A_REFUSAL) {
        assert.ok(
          Object.keys(documented).some((each) => each.toLowerCase() === name),
          `${method} ${path}: ${name}`,
        );
      }
      const revokes = method === 'DELETE' && path === '/v1/keys/{key_id}';
      for (const headers of WAYS_IN) {
        const options = { method, path: path.replace('{key_id}', leaked.keyId), headers };
        assertRefused(await send(revokes ? leaked.key : key, options), revokes ? 60 : 5, `${method} ${path}`);
      }
    }
  });

  it('of failed authentications belongs to the key that fails: it spares every other one, and junk is 401 however often', async () => {
    const { tenantId, key } = await service.createTenant('unlimited');
    assert.equal((await send(key)).status, 200);
    const revoked = await service.createKey(tenantId, { scopes: ['check:read'] });
    assert.equal((await send(key, { method: 'DELETE', path: `/v1/keys/${revoked.keyId}` })).status, 204);
    const lastCharacter = key.endsWith('0') ? '1' : '0';
    const junk = {
      'a word': 'junk',
      'a key with another last character': key.slice(0, -1) + lastCharacter,
      'a key that lacks a character': key.slice(0, -1),
      'a key with one more': `${key}0`,
      'a key of another form': key.replace('gk1_', 'gk2_'),
      "the operator's token": service.operatorToken,
      'nothing at all': undefined,
    };
    const sendJunk = async (): Promise<void> => {
      for (const headers of WAYS_IN) {
        for (const [what, token] of Object.entries(junk)) {
          const answer = await service.send({ ...CHECK, key: token, headers });
          assertProblem(answer, 401, 'unauthorized', service.errorsBase);
          assertNoRateLimitHeaders(answer);
          assert.equal(answer.headers['retry-after'], undefined, what);
        }
      }
    };
    // More often than an address or a key may fail: none of them counts, or the revoked key would meet a limit at once.
    for (let round = 0; round < 5; round += 1) await sendJunk();
    for (let failures = 0; failures < 10; failures += 1) assert.equal((await send(revoked.key)).status, 401);
    for (const headers of WAYS_IN) assertRefused(await send(revoked.key, { ...CHECK, headers }), 10, 'a revoked key');
    // It counts against itself, and once against its address.
    const other = await service.createKey(tenantId, { scopes: ['check:read'] });
    assert.equal((await send(other.key)).status, 200);
    assert.equal((await send(key)).status, 200);
    await sendJunk();
  });
});
