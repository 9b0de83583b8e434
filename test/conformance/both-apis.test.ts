// The public API and the operator's API say the same about the same request of one tenant: the status, the error with
// its detail, and the headers that lead further.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Answer, call } from '../kit/http-client.ts';
import type { HttpService } from '../kit/http-service.ts';
import { oneService } from './support/one-service.ts';

const TUPLE = { subject: 'user:ann', relation: 'viewer', object: 'document:1' };

interface Case {
  readonly method: string;
  /** Below the tenant. */
  readonly path: string;
  readonly body?: object;
}

const requests: readonly (Case & { readonly status: number })[] = [
  { status: 200, method: 'GET', path: '/grants?subject=user:ann' },
  { status: 200, method: 'GET', path: '/grants?object=document:1&relation=viewer&limit=1' },
  { status: 400, method: 'GET', path: '/grants' },
  { status: 400, method: 'GET', path: '/grants?subject=user:ann&object=document:1' },
  { status: 400, method: 'GET', path: '/grants?subject=ann' },
  { status: 400, method: 'GET', path: '/grants?object=document:' },
  { status: 400, method: 'GET', path: '/grants?subject=user:ann&relation=big%20boss' },
  { status: 400, method: 'GET', path: '/grants?subject=user:ann&relation=undeclared' },
  { status: 400, method: 'GET', path: '/grants?subject=user:ann&cursor=none' },
  { status: 400, method: 'GET', path: '/grants?subject=user:ann&nonsense=1' },
  { status: 400, method: 'GET', path: '/grants?subject=user:ann&subject=user:bob' },
  { status: 400, method: 'GET', path: '/changes?relation=big%20boss' },
  { status: 400, method: 'GET', path: '/changes?relation=undeclared' },
  { status: 400, method: 'POST', path: '/grants?dry_run=true', body: TUPLE },
  { status: 400, method: 'POST', path: '/grants', body: { ...TUPLE, relation: 'big boss' } },
  { status: 400, method: 'POST', path: '/grants', body: { ...TUPLE, relation: 'Viewer' } },
  { status: 400, method: 'POST', path: '/grants', body: { subject: 'user:ann', object: 'document:1' } },
  { status: 400, method: 'POST', path: '/grants', body: { ...TUPLE, expires_at: '2020-01-01T00:00:00Z' } },
  { status: 400, method: 'POST', path: '/grants/revoke', body: {} },
  { status: 400, method: 'POST', path: '/grants/revoke', body: { subject: 'ann' } },
  { status: 400, method: 'POST', path: '/grants/revoke', body: { subject: 'user:ann', relation: 'big boss' } },
  { status: 200, method: 'POST', path: '/grants/revoke?dry_run=true', body: { subject: 'user:ann' } },
  { status: 400, method: 'POST', path: '/check', body: { ...TUPLE, relation: 'big boss' } },
  { status: 400, method: 'POST', path: '/check', body: { ...TUPLE, relation: 'undeclared' } },
  { status: 400, method: 'POST', path: '/keys', body: { scopes: ['admin'], expires_at: '2020-01-01T00:00:00Z' } },
];

let service: HttpService;
let tenant: { readonly tenantId: string; readonly key: string };
before(async () => {
  service = await oneService();
  tenant = await service.createTenant('scale');
  assert.equal((await service.send({ method: 'POST', path: '/v1/grants', key: tenant.key, body: TUPLE })).status, 201);
});

const publicly = ({ method, path, body }: Case): Promise<Answer> =>
  service.send({ method, path: `/v1${path}`, key: tenant.key, ...(body && { body }) });
const byOperator = ({ method, path, body }: Case): Promise<Answer> =>
  call(service.consoleUrl, {
    method,
    path: `/operator/v1/tenants/${tenant.tenantId}${path}`,
    key: service.operatorToken,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });

/** What must be the same, without what names the request or the moment. */
function shown({ status, headers, text }: Answer): object {
  const { instance: _, ...body } = JSON.parse(text);
  const has = ['x-service-cursor', 'x-service-warning'].filter((name) => headers[name] !== undefined);
  return { status, body, has };
}

describe('a request of both APIs', () => {
  for (const { status, ...request } of requests) {
    it(`has one answer: ${request.method} ${request.path} ${JSON.stringify(request.body ?? '')}`, async () => {
      const [one, other] = [await publicly(request), await byOperator(request)];
      assert.equal(one.status, status, one.text);
      assert.deepEqual(shown(other), shown(one));
    });
  }
});
