// The header X-Service-Warning: beside which answers it stands, and that it changes none of them.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Answer, call } from '../kit/http-client.ts';
import type { HttpService } from '../kit/http-service.ts';
import { oneService } from './support/one-service.ts';

const RULES = {
  rules: [{ namespace: 'document', name: 'can_read', any_of: ['viewer', 'can_read from parent'] }],
  groups: true,
  public: ['guest'],
};

let service: HttpService;

before(async () => {
  service = await oneService();
});

const warningOf = ({ headers }: Answer): unknown => headers['x-service-warning'];

interface Tenant {
  send(method: string, path: string, body?: object): Promise<Answer>;
  operator(method: string, path: string, body?: object): Promise<Answer>;
}

async function openTenant(): Promise<Tenant> {
  const { tenantId, key } = await service.createTenant('scale');
  const tenant: Tenant = {
    send: (method, path, body) => service.send({ method, path, key, ...(body && { body }) }),
    operator: (method, path, body) =>
      call(service.consoleUrl, {
        method,
        path: `/operator/v1/tenants/${tenantId}${path}`,
        key: service.operatorToken,
        ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      }),
  };
  const created = await tenant.send('POST', '/v1/grants', tuple('user:ann', 'viewer', 'document:1'));
  assert.equal(created.status, 201, created.text);
  assert.equal(warningOf(created), undefined);
  return tenant;
}

const tuple = (subject: string, relation: string, object: string) => ({ subject, relation, object });
const evaluation = (object: string) => {
  const [type, id] = object.split(':');
  return { subject: { type: 'user', id: 'ann' }, action: { name: 'viewer' }, resource: { type, id } };
};

describe('a namespace that the tenant has never used', () => {
  it('is named by a check that is false, a listing that is empty, and their like', async () => {
    const { send, operator } = await openTenant();
    const documnt = tuple('user:ann', 'viewer', 'documnt:1');
    const expected = 'unknown-namespace; namespace=documnt';
    for (const [answer, body] of [
      [await send('POST', '/v1/check', documnt), /^{"authorized":false,"checked_at":"[^"]+"}$/],
      [await send('POST', '/v1/check', { ...documnt, explain: true }), /^{"authorized":false,.*"reason":{/],
      [
        await send('POST', '/v1/check/bulk', { checks: [tuple('user:ann', 'viewer', 'document:1'), documnt] }),
        /^{"results":\[{"authorized":true},{"authorized":false}\],"checked_at":"[^"]+"}$/,
      ],
      [await send('GET', '/v1/objects?subject=user:ann&relation=owner&namespace=documnt'), /^{"objects":\[\]/],
      [await send('GET', '/v1/subjects?object=documnt:1&relation=viewer'), /^{"subjects":\[\]/],
      [await send('POST', '/access/v1/evaluation', evaluation('documnt:1')), /^{"decision":false}$/],
      [
        await send('POST', '/access/v1/evaluations', { evaluations: ['document:1', 'documnt:1'].map(evaluation) }),
        /^{"evaluations":\[{"decision":true},{"decision":false}\]}$/,
      ],
      [await operator('POST', '/check', documnt), /^{"authorized":false,/],
      [await operator('POST', '/check/bulk', { checks: [documnt] }), /^{"results":\[{"authorized":false}\]/],
      [await operator('GET', '/objects?subject=user:ann&relation=owner&namespace=documnt'), /^{"objects":\[\]/],
      [await operator('GET', '/holders?object=documnt:1&relation=viewer'), /^{"subjects":\[\]/],
    ] as const) {
      assert.equal(answer.status, 200, answer.text);
      assert.match(answer.text, body);
      assert.equal(warningOf(answer), expected, answer.text);
    }
  });

  it('is that of the subject too, and both are named', async () => {
    const { send } = await openTenant();
    const answer = await send('POST', '/v1/check', tuple('usr:ann', 'viewer', 'documnt:1'));
    assert.equal(warningOf(answer), 'unknown-namespace; namespace=usr, unknown-namespace; namespace=documnt');
  });

  it('is not named if the answer says yes, nor where a listing has something', async () => {
    const { send } = await openTenant();
    for (const answer of [
      await send('POST', '/v1/check', tuple('user:ann', 'viewer', 'document:1')),
      await send('POST', '/v1/check', tuple('user:ann', 'owner', 'document:1')),
      await send('GET', '/v1/objects?subject=user:ann&relation=viewer'),
      await send('GET', '/v1/objects?subject=user:ann&relation=owner'),
    ]) {
      assert.equal(answer.status, 200);
      assert.equal(warningOf(answer), undefined);
    }
  });

  it('is known once somebody has created it, granted in it, or written a rule of it', async () => {
    const { send } = await openTenant();
    const ask = async (namespace: string) =>
      warningOf(await send('POST', '/v1/check', tuple('user:ann', 'viewer', `${namespace}:1`)));
    for (const namespace of ['made', 'granted', 'ruled', 'guest']) {
      assert.equal(await ask(namespace), `unknown-namespace; namespace=${namespace}`);
    }
    await send('POST', '/v1/namespaces', { name: 'made' });
    await send('POST', '/v1/grants', tuple('user:ann', 'editor', 'granted:1'));
    const rules = { ...RULES, rules: [{ namespace: 'ruled', name: 'can_read', any_of: ['viewer'] }] };
    assert.equal((await send('PUT', '/v1/rules', rules)).status, 200);
    for (const namespace of ['made', 'granted', 'ruled', 'guest']) assert.equal(await ask(namespace), undefined);
    assert.equal(await ask('other'), 'unknown-namespace; namespace=other');
  });

  it('takes a name with every character that one may have', async () => {
    const { send } = await openTenant();
    const name = `A_.-${'9'.repeat(60)}`;
    const answer = await send('POST', '/v1/check', tuple('user:ann', 'viewer', `${name}:1`));
    assert.equal(warningOf(answer), `unknown-namespace; namespace=${name}`);
  });
});

describe('a grant that the rules can never follow', () => {
  it('is written, and the answer says why they cannot', async () => {
    const { send, operator } = await openTenant();
    assert.equal((await send('PUT', '/v1/rules', RULES)).status, 200);
    for (const [subject, relation, reason] of [
      ['folder:2#parent', 'parent', 'no-entity'],
      ['user:*', 'parent', 'no-entity'],
      ['user:*', 'viewer', 'not-public'],
      ['team:1#membr', 'viewer', 'unknown-name'],
      ['folder:2', 'parent', undefined],
      ['team:1#member', 'viewer', undefined],
      ['guest:*', 'viewer', undefined],
    ] as const) {
      const grant = tuple(subject, relation, 'document:1');
      const expected = reason && `grant-not-followed; reason=${reason}`;
      for (const [answer, status] of [
        [await send('POST', '/v1/grants', grant), 201],
        [await send('POST', '/v1/grants', grant), 200],
        [await operator('POST', '/grants', grant), 200],
      ] as const) {
        assert.equal(answer.status, status, answer.text);
        assert.equal(warningOf(answer), expected, JSON.stringify(grant));
      }
    }
    const grants = [tuple('folder:3', 'parent', 'document:1'), tuple('folder:3#parent', 'parent', 'document:1')];
    for (const answer of [
      await send('POST', '/v1/grants/bulk', { grants }),
      await operator('POST', '/grants/bulk', { grants }),
    ]) {
      assert.equal(answer.status, 200, answer.text);
      assert.equal(warningOf(answer), 'grant-not-followed; reason=no-entity; grant=1');
    }
    const preview = await send('PUT', '/v1/rules?dry_run=true', { ...RULES, groups: false });
    const { grants_not_followed: notFollowed } = preview.json as { readonly grants_not_followed: number };
    // The five above and in the bulk write, and the two groups that would be none.
    assert.equal(notFollowed, 6);
  });

  it('is none without rules', async () => {
    const { send } = await openTenant();
    const answer = await send('POST', '/v1/grants', tuple('folder:2#parent', 'parent', 'document:1'));
    assert.deepEqual([answer.status, warningOf(answer)], [201, undefined]);
  });
});

describe("an object's own groups", () => {
  it('are listed only if they are asked for', async () => {
    const { send, operator } = await openTenant();
    assert.equal((await send('PUT', '/v1/rules', RULES)).status, 200);
    const asked = 'object=document:1&relation=viewer';
    const list = async (query: string) => {
      const [own, console] = [await send('GET', `/v1/subjects?${query}`), await operator('GET', `/holders?${query}`)];
      assert.deepEqual(own.json, console.json);
      return (own.json as { readonly subjects: readonly string[] }).subjects;
    };
    assert.deepEqual(await list(asked), ['user:ann']);
    assert.deepEqual(await list(`${asked}&include=self`), ['document:1#viewer', 'user:ann']);
    assert.deepEqual(await list(`${asked}&include=self&via=direct`), ['user:ann']);
    const refused = await send('GET', `/v1/subjects?${asked}&include=selfs`);
    assert.equal(refused.status, 400, refused.text);
    // A cursor is one of its own query.
    const first = await send('GET', `/v1/subjects?${asked}&include=self&limit=1`);
    const { next_cursor: cursor } = first.json as { readonly next_cursor: string };
    const other = await send('GET', `/v1/subjects?${asked}&limit=1&cursor=${cursor}`);
    assert.equal(other.status, 400, other.text);
  });
});
