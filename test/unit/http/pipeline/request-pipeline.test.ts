// The order in which a request is examined, and when the owner confirms the key before a refusal.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { GrantdError } from '../../../../src/core/errors.ts';
import { ALL_SCOPES, scopeMask } from '../../../../src/core/scopes.ts';
import {
  assertNoRateLimitHeaders,
  assertPageHeaders,
  assertProblem,
  assertRateLimitHeaders,
  type CallOptions,
  call,
} from '../../../kit/http-client.ts';
import { waitFor } from '../../../kit/wait-for.ts';
import { type HttpInProcess, startHttp, unavailable } from '../http-in-process.ts';

const TUPLE = { subject: 'user:a', relation: 'viewer', object: 'doc:1' };
const CHECK: CallOptions = { method: 'POST', path: '/v1/check', body: TUPLE };

/** The front refuses each by itself, once the owner has confirmed the key. */
const REFUSED: [string, CallOptions, number, string][] = [
  ['an unknown path', { method: 'GET', path: '/v1/nothing' }, 404, 'not-found'],
  ['a path with a slash too many', { ...CHECK, path: '/v1/check/' }, 404, 'not-found'],
  ['another case', { ...CHECK, path: '/v1/Check' }, 404, 'not-found'],
  ['a path that cannot be decoded', { method: 'DELETE', path: '/v1/keys/%zz' }, 404, 'not-found'],
  ['an ill-formed key id', { method: 'DELETE', path: '/v1/keys/abc' }, 404, 'key-not-found'],
  ['a wrong method', { method: 'GET', path: '/v1/check' }, 405, 'method-not-allowed'],
  ['malformed JSON', { ...CHECK, body: '{' }, 400, 'invalid-request'],
  ['no body', { method: 'POST', path: '/v1/check' }, 415, 'unsupported-media-type'],
  ['a body that is too large', { ...CHECK, body: ' '.repeat(64 * 1024 + 1) }, 413, 'payload-too-large'],
  ['an unknown query parameter', { ...CHECK, path: '/v1/check?x=1' }, 400, 'invalid-request'],
  ['a bad subject', { ...CHECK, body: { ...TUPLE, subject: 'x' } }, 400, 'invalid-subject'],
  [
    'too many checks',
    { method: 'POST', path: '/v1/check/bulk', body: { checks: Array.from({ length: 101 }, () => null) } },
    400,
    'bulk-too-large',
  ],
  [
    'a bulk write that changes nothing',
    { method: 'POST', path: '/v1/grants/bulk', body: { grants: [] } },
    400,
    'invalid-request',
  ],
  ['a filter of nothing', { method: 'POST', path: '/v1/grants/revoke', body: {} }, 400, 'invalid-request'],
  [
    'a body and a query',
    { method: 'DELETE', path: '/v1/grants?subject=user:a&relation=viewer&object=doc:1', body: TUPLE },
    400,
    'invalid-request',
  ],
  ['a query of an unknown name', { method: 'DELETE', path: '/v1/grants?id=1' }, 400, 'invalid-request'],
];

describe('a request', () => {
  let http: HttpInProcess;
  let errorsBase: string;
  const send = (options: CallOptions) => call(http.url, options);
  before(async () => {
    http = await startHttp({ trustedProxies: ['127.0.0.1'] });
    errorsBase = `${http.url}/errors`;
  });
  after(() => http.close());

  for (const [what, options, status, type] of REFUSED) {
    it(`is refused for ${what}: 401 without a key, ${status} with one, 401 and 403 once that no longer counts`, async () => {
      assertProblem(await send(options), 401, 'unauthorized', errorsBase);

      const { tenantId, key } = await http.front.createTenant('standard');
      const refused = await send({ ...options, key });
      assertProblem(refused, status, type, errorsBase);
      assertRateLimitHeaders(refused, options.path.startsWith('/v1/keys/abc') ? 60 : 200);

      await http.front.setState(tenantId, 'suspended');
      assertProblem(await send({ ...options, key }), 403, 'tenant-suspended', errorsBase);
      await http.front.setState(tenantId, 'active');
      http.front.revokeKeyText(key);
      const revoked = await send({ ...options, key });
      assertProblem(revoked, 401, 'unauthorized', errorsBase);
      assertNoRateLimitHeaders(revoked);
    });
  }

  it('is limited before path, method, scope and body are looked at, and says for how long', async () => {
    for (const [, options] of REFUSED) {
      if (options.path.startsWith('/v1/keys/abc')) continue;
      const { key } = await http.front.createTenant('tiny', 0);
      await send({ ...CHECK, key });
      await send({ ...CHECK, key });
      const limited = await send({ ...options, key });
      assertProblem(limited, 429, 'rate-limited', errorsBase);
      assertRateLimitHeaders(limited, 2);
      assert.equal(limited.headers['retry-after'], limited.headers['x-service-ratelimit-reset']);
    }
  });

  it('that is limited makes the front call the owner once a second, so that it learns of another plan', async () => {
    const confirmations = () => http.front.operator.calls.filter(({ name }) => name === 'confirm').length;
    const { key } = await http.front.createTenant('tiny');
    await send({ ...CHECK, key });
    await send({ ...CHECK, key });
    const before = confirmations();
    for (let index = 0; index < 3; index += 1) assert.equal((await send({ ...CHECK, key })).status, 429);
    await waitFor('a call to the owner', () => confirmations() > before);
    assert.equal(confirmations(), before + 1);
  });

  it('is limited all the same where the decision takes time', async () => {
    const { key } = await http.front.createTenant('tiny');
    http.rateLimiter.slow = true;
    const statuses = [];
    for (let index = 0; index < 3; index += 1) statuses.push((await send({ ...CHECK, key })).status);
    http.rateLimiter.slow = false;
    assert.deepEqual(statuses, [200, 200, 429]);
  });

  it('needs the scope of its operation before its body is looked at', async () => {
    const { key } = await http.front.createTenant('unlimited', scopeMask(['admin']));
    assertProblem(await send({ ...CHECK, body: '{', key }), 403, 'insufficient-scope', errorsBase);
    const answer = await send({ method: 'GET', path: '/openapi.json', key });
    assert.equal(answer.status, 200);
    assertNoRateLimitHeaders(answer);
  });

  it('with a junk key costs no lookup', async () => {
    const before = http.front.lookups;
    for (const key of ['junk', `gk1_${'0'.repeat(81)}`, 'é', 'gk1_']) {
      assertProblem(
        await send({ ...CHECK, key: Buffer.from(key).toString('latin1') }),
        401,
        'unauthorized',
        errorsBase,
      );
    }
    assert.equal(http.front.lookups, before);
  });

  for (const authorization of ['Basic dTpw', 'Bearer', 'Bearer ', 'Token x', 'Bearer a b', 'bearer']) {
    it(`without a bearer token is refused: ${JSON.stringify(authorization)}`, async () => {
      assertProblem(await send({ ...CHECK, headers: { authorization } }), 401, 'unauthorized', errorsBase);
    });
  }

  it('may write the scheme as it likes', async () => {
    const { key } = await http.front.createTenant('unlimited');
    for (const scheme of ['bearer', 'BEARER', 'Bearer ']) {
      const answer = await send({ ...CHECK, headers: { authorization: `${scheme} ${key}` } });
      assert.equal(answer.status, 200);
    }
  });

  it('whose key cannot be verified now is 503, never 401', async () => {
    const { key } = await http.front.createTenant('unlimited');
    http.front.lookupFault = unavailable();
    const answer = await send({ ...CHECK, key });
    http.front.lookupFault = undefined;
    assertProblem(answer, 503, 'unavailable', errorsBase);
  });

  it('that the owner cannot answer is never a deny', async () => {
    const { key } = await http.front.createTenant('unlimited');
    await send({ ...CHECK, key });
    for (const [fault, status, type] of [
      [unavailable(), 503, 'unavailable'],
      [new GrantdError('overloaded', 'Too much.', { details: { retryAfterSeconds: 3 } }), 503, 'overloaded'],
      [new Error('a secret of the house'), 500, 'internal'],
    ] as const) {
      http.front.operator.faults.push(undefined, fault);
      const answer = await send({ ...CHECK, key });
      assertProblem(answer, status, type, errorsBase);
      assert.ok(!answer.text.includes('authorized'));
      assert.ok(!answer.text.includes('secret'));
      if (type === 'overloaded') assert.equal(answer.headers['retry-after'], '3');
    }
  });

  it('with an unknown key from an address that failed too often gets a 429 and costs no lookup', async () => {
    const { tenantId, key } = await http.front.createTenant('unlimited');
    const fresh = http.front.createKey(tenantId, ALL_SCOPES);
    /** Well-formed, and unknown. */
    const unknown = () => {
      const text = http.front.createKey(tenantId, ALL_SCOPES);
      http.front.revokeKeyText(text);
      return text;
    };
    await send({ ...CHECK, key });
    http.failureLimiter.failures.clear();
    http.failureLimiter.max = 2;
    const from = (address: string, apiKey: string) =>
      send({ ...CHECK, key: apiKey, headers: { 'x-forwarded-for': address } });
    assertProblem(await from('192.0.2.1', unknown()), 401, 'unauthorized', errorsBase);
    assertProblem(await from('192.0.2.1', unknown()), 401, 'unauthorized', errorsBase);
    const lookups = http.front.lookups;
    for (const guess of [unknown(), fresh]) {
      const limited = await from('192.0.2.1', guess);
      assertProblem(limited, 429, 'rate-limited', errorsBase);
      assert.equal(limited.headers['retry-after'], '42');
      assertRateLimitHeaders(limited, 2);
      assert.equal(limited.headers['x-service-ratelimit-remaining'], '0');
      assert.equal(limited.headers['x-service-ratelimit-reset'], '42');
    }
    assert.equal(http.front.lookups, lookups);
    // A key that is known goes on from there, an unknown one from anywhere else, and junk is junk.
    assert.equal((await from('192.0.2.1', key)).status, 200);
    assert.equal((await from('192.0.2.2', fresh)).status, 200);
    assert.equal((await from('192.0.2.1', fresh)).status, 200);
    assertProblem(await from('192.0.2.1', 'junk'), 401, 'unauthorized', errorsBase);
    // Only the part that the trusted proxy itself has added is believed.
    assertProblem(await from('192.0.2.77, 192.0.2.1', unknown()), 429, 'rate-limited', errorsBase);
    assert.deepEqual([...http.failureLimiter.failures], [['192.0.2.1', 2]]);
    http.failureLimiter.max = Number.POSITIVE_INFINITY;
  });

  it('with junk for a key is 401 however often, and counts against no address', async () => {
    http.failureLimiter.failures.clear();
    http.failureLimiter.max = 1;
    for (const key of ['junk', 'gk1_', `gk1_${'0'.repeat(81)}`]) {
      for (let index = 0; index < 3; index += 1) {
        assertProblem(await send({ ...CHECK, key }), 401, 'unauthorized', errorsBase);
      }
    }
    assert.equal(http.failureLimiter.failures.size, 0);
    http.failureLimiter.max = Number.POSITIVE_INFINITY;
  });

  it('to revoke a key draws on the reserve of the calling key; everything else of /v1/keys on the plan', async () => {
    const { tenantId, key: own } = await http.front.createTenant('tiny');
    const leaked = http.front.createKey(tenantId, scopeMask(['check:read']));
    const revoke = (key: string) => send({ method: 'DELETE', path: '/v1/keys/key_00000000000000000000000000', key });
    const list = (key: string, method = 'GET', path = '/v1/keys') => send({ method, path, key });
    assertRateLimitHeaders(await list(leaked), 2);
    assertRateLimitHeaders(await list(leaked, 'GET', '/v1/keys/key_00000000000000000000000000'), 2);
    for (const [method, path] of [
      ['GET', '/v1/keys'],
      ['POST', '/v1/keys'],
      ['PUT', '/v1/keys/x'],
      ['DELETE', '/v1/keys'],
    ] as const) {
      assert.equal((await list(leaked, method, path)).status, 429);
    }
    for (let used = 1; used <= 60; used += 1) {
      const refused = await revoke(leaked);
      assertProblem(refused, 403, 'insufficient-scope', errorsBase);
      assertRateLimitHeaders(refused, 60);
    }
    assertProblem(await revoke(leaked), 429, 'rate-limited', errorsBase);
    const spared = await revoke(own);
    assertProblem(spared, 404, 'key-not-found', errorsBase);
    assertRateLimitHeaders(spared, 60);
    assert.equal(spared.headers['x-service-ratelimit-remaining'], '59');
  });

  it('outside /v1/ needs no key and finds only public pages', async () => {
    for (const path of [
      '/v1',
      '/V1/check',
      '/openapi',
      '/openapi.json/',
      '/favicon.ico',
      '/errors/',
      '/errors/x',
      '//v1/check',
      '/%',
      '/x?a=%zz',
    ]) {
      assertProblem(await send({ method: 'GET', path }), 404, 'not-found', errorsBase);
    }
    for (const path of ['/', '/docs', '/errors', '/errors/invalid-subject']) {
      const page = await send({ method: 'GET', path });
      assert.equal(page.status, 200);
      assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
      assertPageHeaders(page);
      assertProblem(await send({ method: 'POST', path }), 405, 'method-not-allowed', errorsBase);
    }
  });

  it('is counted by operation and status', async () => {
    const { key } = await http.front.createTenant('unlimited');
    // Earlier checks are added to the counter when it is rendered.
    await http.metrics.render();
    http.metrics.registry.resetMetrics();
    await send({ ...CHECK, key });
    await send({ method: 'POST', path: '/v1/check/bulk', body: { checks: [TUPLE, TUPLE] }, key });
    await send({ ...CHECK, body: '{', key });
    await send({ method: 'GET', path: '/nothing' });
    await send(CHECK);
    const text = await http.metrics.render();
    for (const line of [
      'grantd_http_request_seconds_count{operation="check",status="200"} 1',
      'grantd_http_request_seconds_count{operation="checkBulk",status="200"} 1',
      'grantd_http_request_seconds_count{operation="check",status="400"} 1',
      'grantd_http_request_seconds_count{operation="other",status="404"} 1',
      'grantd_checks_total{outcome="denied"} 3',
      'grantd_authentication_failures_total 1',
    ]) {
      assert.ok(
        text.includes(`${line}\n`),
        `${line} in\n${text
          .split('\n')
          .filter((each) => /_count|_total/.test(each))
          .join('\n')}`,
      );
    }
  });
});

describe('a service behind another address', () => {
  it('names itself by configuration and never by the Host header', async () => {
    const http = await startHttp({ baseUrl: 'https://grants.example/', errorsBase: 'https://docs.example/errors/' });
    const { key } = await http.front.createTenant('unlimited');
    const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example' };
    assertProblem(
      await call(http.url, { method: 'GET', path: '/v1/x', key, headers }),
      404,
      'not-found',
      'https://docs.example/errors',
    );
    const openapi = await call(http.url, { method: 'GET', path: '/openapi.json', key, headers });
    assert.ok(openapi.text.includes('"servers":[{"url":"https://grants.example"}]'));
    assert.ok(openapi.text.includes('"https://docs.example/errors/invalid-subject"'));
    assert.ok(!openapi.text.includes('evil'));
    await http.close();
  });
});
