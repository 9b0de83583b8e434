// The join of a name through the public interface and the operator's: of the present rules, with their revision as its
// entity tag, and what is refused by name.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Answer, assertProblem, call } from '../../kit/http-client.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { oneService } from '../support/one-service.ts';

const RULES = {
  rules: [
    { namespace: 'document', name: 'viewer', any_of: ['editor', 'viewer from parent'] },
    { namespace: 'document', name: 'can_read', any_of: [{ all_of: ['viewer'], but_not: ['guest'] }] },
    { namespace: 'folder', name: 'viewer', any_of: ['viewer from parent'] },
  ],
  groups: true,
  public: ['user'],
};
const QUERY = '?namespace=document&name=can_read';

const service = await oneService();

describe('joins', () => {
  const get = (key: string, query: string, headers: Record<string, string> = {}): Promise<Answer> =>
    service.send({ method: 'GET', path: `/v1/join${query}`, key, headers });
  const put = async (key: string, body: unknown): Promise<Answer> => {
    const answer = await service.send({ method: 'PUT', path: '/v1/rules', key, body });
    assert.equal(answer.status, 200, answer.text);
    return answer;
  };

  it('say which grants to mirror and what to make of them, at both doors alike', async () => {
    const { key, tenantId } = await service.createTenant();
    const { etag } = (await put(key, RULES)).headers;
    const answer = await get(key, QUERY);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers.etag, etag);
    const from = [{ relation: 'parent', names: ['viewer'] }];
    const own = { relations: ['editor', 'viewer'], own: ['editor', 'viewer'] };
    assert.deepEqual(answer.json, {
      tenant_id: tenantId,
      revision: String(etag).slice(1, -1),
      namespace: 'document',
      name: 'can_read',
      groups: true,
      public: ['user'],
      depth_max: 25,
      mirror: [
        { namespace: 'document', relations: ['editor', 'guest', 'parent', 'viewer'] },
        { namespace: 'folder', relations: ['parent'] },
      ],
      atoms: {
        a: { relations: [], own: ['can_read'], from: [] },
        b: { ...own, from },
        c: { relations: ['guest'], own: ['guest'], from: [] },
      },
      formula: { any_of: ['a', { all_of: ['b'], none_of: ['c'] }] },
      nesting: [
        { namespace: 'document', name: 'viewer', ...own, from },
        { namespace: 'folder', name: 'viewer', relations: [], own: [], held: 'viewer', from },
      ],
      ask: ['viewer'],
    });
    const operators = await call(service.consoleUrl, {
      method: 'GET',
      path: `/operator/v1/tenants/${tenantId}/join${QUERY}`,
      key: service.operatorToken,
    });
    assert.deepEqual([operators.json, operators.headers.etag], [answer.json, etag]);
  });

  it('mirror the grants on containers too, if asked for', async () => {
    const { key } = await service.createTenant();
    await put(key, RULES);
    const { mirror } = (await get(key, `${QUERY}&deep=folder,team`)).json as { readonly mirror: readonly object[] };
    assert.deepEqual(mirror[1], { namespace: 'folder', relations: ['parent', 'viewer'] });
    assert.equal((await get(key, `${QUERY}&deep=team,folder,team`)).status, 200);
  });

  it('change with the rules alone', async () => {
    const { key } = await service.createTenant();
    const none = await get(key, '?namespace=document&name=viewer');
    assert.equal(none.status, 200, none.text);
    const { etag } = (await put(key, RULES)).headers;
    assert.notEqual(none.headers.etag, etag);
    const body = { subject: 'user:ann', relation: 'viewer', object: 'document:1' };
    assert.equal((await service.send({ method: 'POST', path: '/v1/grants', key, body })).status, 201);
    for (const known of [String(etag), `"x", W/${etag}`, '*']) {
      const unchanged = await get(key, QUERY, { 'if-none-match': known });
      assert.deepEqual([unchanged.status, unchanged.headers.etag, unchanged.text], [304, etag, '']);
    }
    assert.equal((await get(key, QUERY, { 'if-none-match': String(none.headers.etag) })).status, 200);
    assertProblem(await get(key, QUERY, { 'if-none-match': 'x' }), 400, 'invalid-request', service.errorsBase);
  });

  it('name what is wrong with a question', async () => {
    const { key } = await service.createTenant();
    await put(key, RULES);
    for (const [query, type, detail] of [
      ['?namespace=document&name=can_raed', 'invalid-relation', /^"name" must be .* Did you mean "can_read"\?/],
      [
        '?namespace=documnet&name=can_read',
        'invalid-relation',
        /^"name" .* documnet, .*: rules define it on document\.$/,
      ],
      ['?namespace=document&name=a%20b', 'invalid-relation', /^"name" must be /],
      ['?namespace=document', 'invalid-relation', /^"name" must be .*; it is missing/],
      ['?name=can_read', 'invalid-request', /^"namespace" must be a namespace name; it is missing/],
      ['?namespace=1&name=can_read', 'invalid-request', /^"namespace" must be a namespace name/],
      [`${QUERY}&deep=folder,a%20b`, 'invalid-request', /^"deep" must be up to 100 namespaces.*; "a b" is none/],
      [`${QUERY}&deep=`, 'invalid-request', /^"deep" .*; "" is none/],
      [`${QUERY}&deep=${Array(101).fill('a').join()}`, 'invalid-request', /^"deep" .*; it has more/],
      [`${QUERY}&depth=2`, 'invalid-request', /depth/],
    ] as const) {
      const refused = await get(key, query);
      assertProblem(refused, 400, type, service.errorsBase);
      assert.match((refused.json as { readonly detail: string }).detail, detail);
    }
  });

  it('warn of a namespace that the tenant does not know', async () => {
    const { key } = await service.createTenant();
    await put(key, RULES);
    const isWarned = async (): Promise<boolean> => {
      const { status, headers } = await get(key, '?namespace=documnet&name=viewer');
      assert.equal(status, 200);
      return /documnet/.test(String(headers['x-service-warning']));
    };
    // It is a hint, from memory: the first answers may go without.
    await waitFor('the warning', isWarned);
  });

  it('need the scope of checks, and no more', async () => {
    const { tenantId } = await service.createTenant();
    const { key: reader } = await service.createKey(tenantId, { scopes: ['check:read'] });
    assert.equal((await get(reader, '?namespace=document&name=viewer')).status, 200);
    const { key: writer } = await service.createKey(tenantId, { scopes: ['grant:write'] });
    assertProblem(await get(writer, '?namespace=document&name=viewer'), 403, 'insufficient-scope', service.errorsBase);
  });
});
