// Paths, methods, headers and error pages: what holds for every endpoint.

import assert from 'node:assert/strict';
import { METHODS } from 'node:http';
import { before, describe, it } from 'node:test';
import { ERROR_CATALOGUE } from '../../../src/core/errors.ts';
import { OPERATIONS } from '../../../src/http/operation-table.ts';
import {
  assertCommonHeaders,
  assertNoRateLimitHeaders,
  assertPageHeaders,
  assertProblem,
  assertRateLimitHeaders,
  call,
} from '../../kit/http-client.ts';
import type { HttpService } from '../../kit/http-service.ts';
import { oneService } from '../support/one-service.ts';
import { requestOf } from '../support/requests.ts';

/** Path → the methods that it has. */
const methodsBy = (pathOf: (operation: (typeof OPERATIONS)[number]) => string): Record<string, string[]> =>
  Object.fromEntries(
    [...Map.groupBy(OPERATIONS, pathOf)].map(([path, operations]) => [path, operations.map(({ method }) => method)]),
  );

const ANNOUNCED: [string, string][] = [
  ['GET', '/v1/oauth/authorize'],
  ['POST', '/v1/oauth/token'],
  ['POST', '/v1/oauth/revoke'],
  ['GET', '/v1/oauth/introspect'],
];

const NOWHERE = [
  '/v1/',
  '/v1/check/',
  '/v1//check',
  '/v1/Check',
  '/v1/CHECK',
  '/v1/%63heck',
  '/v1/check%2Fbulk',
  '/v1/check/bulk/x',
  '/v1/../v1/check',
  '/v1/./check',
  '/v1/check;x=1',
  '/v1/keys/',
  '/v1/keys/a/b',
  '/v1/keys/%zz',
  '/v1/subject',
];

const OUTSIDE = [
  '/docs/',
  '/v1',
  '/v2/check',
  '/V1/check',
  '/%76%31/check',
  '//v1/check',
  '/openapi.json/',
  '/openapi.yaml',
  '/OPENAPI.JSON',
  '/favicon.ico',
  '/errors/',
  '/errors/nothing',
  '/errors/Invalid-Subject',
  '/operator/v1/tenants',
  '/metrics',
  '/livez',
  '/%',
];

describe('the interface', () => {
  let service: HttpService;
  let key: string;
  before(async () => {
    service = await oneService();
    ({ key } = await service.createTenant('scale'));
  });

  for (const [path, methods] of Object.entries(methodsBy((operation) => requestOf(operation).path))) {
    it(`${path} has ${methods.join(' and ')} and no other method`, async () => {
      const { key: unlimited } = await service.createTenant();
      // CONNECT is for proxies and has no path.
      for (const method of METHODS.filter((each) => each !== 'CONNECT' && !methods.includes(each))) {
        const answer = await service.send({ method, path, key: unlimited });
        assert.equal(answer.status, 405, `${method} ${path}`);
        assert.equal(answer.headers.allow, methods.join(', '));
        assertCommonHeaders(answer);
        if (method === 'HEAD') assert.equal(answer.text, '');
        else assertProblem(answer, 405, 'method-not-allowed', service.errorsBase);
      }
    });
  }

  it('has no OAuth yet', async () => {
    for (const [method, path] of ANNOUNCED) {
      assertProblem(await service.send({ method, path, key }), 404, 'not-found', service.errorsBase);
    }
  });

  it('takes paths as they stand: strict, case-sensitive, not normalised', async () => {
    for (const path of NOWHERE) {
      assertProblem(await service.send({ method: 'POST', path, key }), 404, 'not-found', service.errorsBase);
      assertProblem(await service.send({ method: 'POST', path }), 401, 'unauthorized', service.errorsBase);
    }
  });

  it('has nothing outside /v1/ but its description and public pages, and asks for no key there', async () => {
    for (const path of OUTSIDE) {
      for (const method of ['GET', 'POST']) {
        const answer = await service.send({ method, path });
        assertProblem(answer, 404, 'not-found', service.errorsBase);
        assertNoRateLimitHeaders(answer);
      }
    }
  });

  it('has a public page for every type of error', async () => {
    const index = await service.send({ method: 'GET', path: '/errors' });
    assert.equal(index.status, 200);
    for (const [code, { title }] of Object.entries(ERROR_CATALOGUE)) {
      const { pathname } = new URL(`${service.errorsBase}/${code}`);
      assert.ok(index.text.includes(pathname), code);
      const page = await service.send({ method: 'GET', path: pathname });
      assert.equal(page.status, 200);
      assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
      assert.ok(page.text.includes(title.replaceAll('"', '&quot;')));
      assertPageHeaders(page);
      for (const method of ['POST', 'DELETE', 'OPTIONS']) {
        const refused = await service.send({ method, path: pathname });
        assert.equal(refused.status, 405);
        assert.equal(refused.headers.allow, 'GET, HEAD');
      }
    }
  });

  it('answers HEAD like GET on its public pages, without the body', async () => {
    for (const path of ['/', '/docs', '/errors', '/errors/unauthorized']) {
      const page = await service.send({ method: 'GET', path });
      const head = await service.send({ method: 'HEAD', path });
      assert.deepEqual([page.status, head.status, head.text], [200, 200, ''], path);
      for (const name of ['content-type', 'content-length', 'content-security-policy', 'cache-control', 'etag']) {
        assert.ok(page.headers[name] !== undefined, name);
        assert.equal(head.headers[name], page.headers[name], name);
      }
      assertPageHeaders(head);
    }
  });

  it('names the path that a client may have meant, with and without a key', async () => {
    for (const sent of [{ path: '/v1/checks', key }, { path: '/check' }]) {
      const answer = await service.send({ method: 'POST', ...sent });
      assertProblem(answer, 404, 'not-found', service.errorsBase);
      assert.match(answer.text, / \/v1\/check\. /);
    }
  });

  it('carries request id, no-store and the state of the limit on every authenticated answer', async () => {
    const tuple = { subject: 'user:h', relation: 'viewer', object: 'doc:h' };
    const requests: [string, string, unknown, number, number][] = [
      ['POST', '/v1/check', tuple, 200, 10_000],
      ['POST', '/v1/check/bulk', { checks: [tuple] }, 200, 10_000],
      ['POST', '/v1/grants', tuple, 201, 10_000],
      ['POST', '/v1/grants', tuple, 200, 10_000],
      ['DELETE', '/v1/grants', tuple, 204, 10_000],
      ['DELETE', '/v1/grants', tuple, 404, 10_000],
      ['DELETE', '/v1/grants?subject=user:h&relation=viewer&object=doc:h', undefined, 404, 10_000],
      ['POST', '/v1/grants/bulk', { grants: [tuple] }, 200, 10_000],
      ['POST', '/v1/grants/bulk', { grants: [tuple], if: [{ ...tuple, exists: false }] }, 412, 10_000],
      ['POST', '/v1/grants/revoke', { object: 'doc:h' }, 200, 10_000],
      ['GET', '/v1/objects?subject=user:h&relation=viewer', undefined, 200, 10_000],
      ['GET', '/v1/subjects?object=doc:h&relation=viewer', undefined, 200, 10_000],
      ['GET', '/v1/grants?object=doc:h', undefined, 200, 10_000],
      ['GET', '/v1/namespaces', undefined, 200, 10_000],
      ['POST', '/v1/namespaces', { name: 'h' }, 201, 10_000],
      ['POST', '/v1/namespaces', { name: 'h' }, 200, 10_000],
      ['GET', '/v1/keys', undefined, 200, 10_000],
      ['POST', '/v1/keys', { scopes: ['admin'] }, 201, 10_000],
      ['DELETE', '/v1/keys/x', undefined, 404, 60],
      ['GET', '/openapi.json', undefined, 200, 10_000],
      ['POST', '/v1/check', '{', 400, 10_000],
      ['GET', '/v1/nothing', undefined, 404, 10_000],
      ['PUT', '/v1/check', undefined, 405, 10_000],
    ];
    const ids = new Set<unknown>();
    for (const [method, path, body, status, limit] of requests) {
      const answer = await service.send({ method, path, body, key });
      assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`);
      assertCommonHeaders(answer);
      assertRateLimitHeaders(answer, limit);
      ids.add(answer.headers['x-service-request-id']);
      if (status === 200 || status === 201) assert.equal(answer.headers['content-type'], 'application/json');
    }
    assert.equal(ids.size, requests.length);
  });

  it('makes the request id itself, whatever the client sends', async () => {
    const headers = { 'x-service-request-id': 'req_00000000000000000000000000', 'x-request-id': 'mine' };
    const answer = await service.send({ method: 'GET', path: '/v1/namespaces', key, headers });
    assert.notEqual(answer.headers['x-service-request-id'], headers['x-service-request-id']);
  });

  it('allows no other origin', async () => {
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
    const answer = await service.send({ method: 'OPTIONS', path: '/v1/check', headers });
    assertProblem(answer, 401, 'unauthorized', service.errorsBase);
    assert.deepEqual(
      Object.keys(answer.headers).filter((name) => name.startsWith('access-control')),
      [],
    );
  });

  it('ignores the body of a GET', async () => {
    const answer = await service.send({ method: 'GET', path: '/v1/namespaces', key, body: '{' });
    assert.equal(answer.status, 200);
  });

  it('describes itself', async () => {
    const answer = await service.send({ method: 'GET', path: '/openapi.json', key });
    assert.equal(answer.headers['content-type'], 'application/json');
    assert.ok(
      typeof answer.json === 'object' && answer.json !== null && 'servers' in answer.json && 'paths' in answer.json,
    );
    assert.deepEqual(answer.json.servers, [{ url: service.baseUrl }]);
    const described = Object.entries(answer.json.paths as Record<string, object>).map(([path, operations]) => [
      path,
      Object.keys(operations).map((method) => method.toUpperCase()),
    ]);
    assert.deepEqual(
      Object.fromEntries(described),
      methodsBy(({ path }) => path),
    );
    // Whoever reads the reference may read it, too, and its links lead there.
    const open = await service.send({ method: 'GET', path: '/docs/openapi.json' });
    assert.equal(open.status, 200);
    assert.equal(open.headers['content-type'], 'application/json');
    assert.equal(open.text, answer.text);
    for (const path of ['/', '/docs']) {
      const { text } = await service.send({ method: 'GET', path });
      assert.match(text, /href="docs\/openapi\.json"/);
      assert.doesNotMatch(text, /href="openapi\.json"/);
    }
    const posted = await service.send({ method: 'POST', path: '/docs/openapi.json' });
    assertProblem(posted, 405, 'method-not-allowed', service.errorsBase);
  });

  it('is another address than the operator and the probes', async () => {
    assert.equal((await call(service.opsUrl, { method: 'GET', path: '/livez' })).status, 200);
    assert.equal((await call(service.consoleUrl, { method: 'GET', path: '/v1/namespaces', key })).status, 404);
  });
});
