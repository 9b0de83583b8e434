// States of objects through both interfaces: granted to the object alone, held by every subject of every namespace.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Answer, assertProblem } from '../../kit/http-client.ts';
import { oneService } from '../support/one-service.ts';

const RULES = {
  relations: ['blocked'],
  states: ['archived', 'published'],
  rules: [
    { namespace: 'repo', name: 'write', any_of: ['editor', 'write from parent'] },
    { namespace: 'repo', name: 'frozen', any_of: ['archived', 'frozen from parent'] },
    { namespace: 'folder', name: 'frozen', any_of: ['archived'] },
    { namespace: 'repo', name: 'can_push', any_of: [{ any_of: ['write'], but_not: ['frozen'] }] },
    { namespace: 'repo', name: 'can_read', any_of: [{ any_of: ['viewer', 'published'], but_not: ['blocked'] }] },
    { namespace: 'repo', name: 'can_release', any_of: [{ all_of: ['editor', 'published'] }] },
  ],
  groups: true,
  public: ['user'],
};
const ARCHIVED = { subject: '*', relation: 'archived', object: 'repo:old' };

const fieldsOf = ({ json }: Answer) => json as Record<string, unknown>;

const service = await oneService();

describe('states of objects', () => {
  const send = (key: string, method: string, path: string, body?: unknown): Promise<Answer> =>
    service.send({ method, path, key, ...(body === undefined ? {} : { body }) });
  const createTenant = async (rules: object = RULES) => {
    const tenant = await service.createTenant();
    const set = await send(tenant.key, 'PUT', '/v1/rules', rules);
    assert.equal(set.status, 200, set.text);
    const may = async (subject: string, relation: string, object: string, more: object = {}) =>
      fieldsOf(await send(tenant.key, 'POST', '/v1/check', { subject, relation, object, ...more })).authorized;
    const grant = (subject: string, relation: string, object: string, more: object = {}) =>
      send(tenant.key, 'POST', '/v1/grants', { subject, relation, object, ...more });
    return { ...tenant, may, grant };
  };

  it('take a name away from subjects of every namespace, also of one that no grant has named before', async () => {
    const { key, may, grant } = await createTenant();
    const subjects = ['user:ada', 'user:*', 'service:ci', 'agent:a', 'link:x', 'team:eng#member', 'new:1'];
    for (const subject of subjects) assert.equal((await grant(subject, 'editor', 'repo:old')).status, 201);
    for (const subject of subjects) assert.equal(await may(subject, 'can_push', 'repo:old'), true, subject);
    assert.equal((await grant('*', 'archived', 'repo:old')).status, 201);
    assert.equal((await grant('*', 'archived', 'repo:old')).status, 200);
    assert.equal((await grant('later:1', 'editor', 'repo:old')).status, 201);
    for (const subject of [...subjects, 'later:1', 'nobody:1', '*']) {
      assert.equal(await may(subject, 'can_push', 'repo:old'), false, subject);
      assert.equal(await may(subject, 'archived', 'repo:old'), true, subject);
    }
    assert.equal((await send(key, 'DELETE', '/v1/grants', ARCHIVED)).status, 204);
    for (const subject of [...subjects, 'later:1']) assert.equal(await may(subject, 'can_push', 'repo:old'), true);
  });

  it('follow through parents, under gates, and for the time and the call that they are granted for', async () => {
    const { may, grant } = await createTenant();
    await grant('folder:f', 'parent', 'repo:new');
    await grant('service:ci', 'editor', 'repo:new');
    assert.equal(await may('service:ci', 'can_push', 'repo:new'), true);
    const sent = { context_grants: [{ ...ARCHIVED, object: 'folder:f' }] };
    assert.equal(await may('service:ci', 'can_push', 'repo:new', sent), false);
    const expires = { expires_at: new Date(Date.now() + 3_600_000).toISOString() };
    assert.equal((await grant('*', 'archived', 'folder:f', expires)).status, 201);
    assert.equal(await may('service:ci', 'can_push', 'repo:new'), false);
    assert.equal(await may('service:ci', 'can_release', 'repo:new'), false);
    await grant('*', 'published', 'repo:new');
    assert.equal(await may('service:ci', 'can_release', 'repo:new'), true);
    assert.equal(await may('agent:a', 'can_release', 'repo:new'), false);
  });

  it('stand in listings of subjects as *, with those that a gate takes out, and lead to their objects', async () => {
    const { key, grant } = await createTenant();
    await grant('*', 'published', 'repo:a');
    await grant('*', 'published', 'repo:b');
    await grant('user:eve', 'blocked', 'repo:a');
    await grant('user:bob', 'viewer', 'repo:c');
    const subjects = 'object=repo:a&relation=can_read';
    for (const query of [subjects, `${subjects}&namespace=user`]) {
      const listed = fieldsOf(await send(key, 'GET', `/v1/subjects?${query}`));
      assert.deepEqual([listed.subjects, listed.excluded], [['*'], ['user:eve']], query);
    }
    const one = fieldsOf(await send(key, 'GET', '/v1/subjects?object=repo:a&relation=published&namespace=agent'));
    assert.deepEqual(one.subjects, ['*']);
    const objects = async (query: string) => fieldsOf(await send(key, 'GET', `/v1/objects?${query}`)).objects;
    assert.deepEqual(await objects('subject=user:bob&relation=can_read'), ['repo:a', 'repo:b', 'repo:c']);
    assert.deepEqual(await objects('subject=user:eve&relation=can_read&namespace=repo'), ['repo:b']);
    for (const subject of ['*', 'agent:new']) {
      assert.deepEqual(await objects(`subject=${subject}&relation=published&namespace=repo`), ['repo:a', 'repo:b']);
    }
    assert.deepEqual(await objects('subject=*&relation=published&namespace=doc'), []);
    const search = { subject: { type: 'user' }, action: { name: 'can_read' }, resource: { type: 'repo', id: 'a' } };
    assert.deepEqual(fieldsOf(await send(key, 'POST', '/access/v1/search/subject', search)).results, [
      { type: 'user', id: '*', properties: { excluded: ['eve'] } },
    ]);
  });

  it('are grants like others: listed, explained, written in bulk, followed and revoked by a filter', async () => {
    const { key, grant } = await createTenant();
    const { json: granted } = await grant('*', 'archived', 'repo:old');
    const bulk = await send(key, 'POST', '/v1/grants/bulk', {
      grants: [
        { ...ARCHIVED, object: 'repo:b' },
        { subject: 'user:ada', relation: 'editor', object: 'repo:b' },
      ],
      if: [{ ...ARCHIVED, exists: true }],
    });
    assert.equal(bulk.status, 200, bulk.text);
    const listed = fieldsOf(await send(key, 'GET', '/v1/grants?subject=*')).grants as object[];
    assert.deepEqual(
      [listed.length, fieldsOf(await send(key, 'GET', '/v1/grants?object=repo:old')).grants],
      [2, [granted]],
    );
    const check = { subject: 'user:ada', relation: 'can_push', object: 'repo:b', explain: true };
    assert.match(
      (await send(key, 'POST', '/v1/check', check)).text,
      /"subject":"\*","relation":"archived","object":"repo:b"/,
    );
    assert.match((await send(key, 'GET', '/v1/changes?relation=archived')).text, /"subject":"\*"/);
    assertProblem(
      await send(key, 'POST', '/v1/grants/revoke', { subject: '*' }),
      400,
      'invalid-request',
      service.errorsBase,
    );
    const revoked = await send(key, 'POST', '/v1/grants/revoke', { subject: '*', relation: 'archived' });
    assert.deepEqual(fieldsOf(revoked), { revoked: 2, complete: true });
  });

  it('and their subject have nothing else: neither is granted with another, and the answer says the right form', async () => {
    const { key, grant } = await createTenant();
    for (const [subject, relation, said] of [
      ['user:*', 'archived', /subject" must be "\*": "archived" is a state/],
      ['repo:old', 'archived', /subject" must be "\*"/],
      ['*', 'blocked', /it is "\*", to which only the states are granted of the tenant: archived, published/],
      ['*', 'viewer', /it is "\*", to which only the states are granted/],
    ] as const) {
      const answers = [
        await grant(subject, relation, 'repo:old'),
        await send(key, 'POST', '/v1/grants/bulk', { grants: [{ subject, relation, object: 'repo:old' }] }),
        await send(key, 'POST', '/v1/check', {
          ...{ subject: 'user:ada', relation: 'can_read', object: 'repo:old' },
          context_grants: [{ subject, relation, object: 'repo:old' }],
        }),
      ];
      for (const answer of answers) {
        assertProblem(answer, 400, 'invalid-subject', service.errorsBase);
        assert.match(String(fieldsOf(answer).detail), said);
      }
    }
    assertProblem(await grant('user:ada', 'viewer', '*'), 400, 'invalid-object', service.errorsBase);
    assertProblem(await grant('*', 'trashed', 'repo:old'), 400, 'invalid-relation', service.errorsBase);
  });

  it('are not removed from the rules while objects have them, and are no relations', async () => {
    const { key, grant } = await createTenant();
    await grant('*', 'archived', 'repo:old');
    const without = { ...RULES, states: ['published'], rules: [] };
    assertProblem(await send(key, 'PUT', '/v1/rules', without), 409, 'relation-in-use', service.errorsBase);
    const asRelation = { ...without, relations: ['blocked', 'archived'] };
    assertProblem(await send(key, 'PUT', '/v1/rules', asRelation), 409, 'relation-in-use', service.errorsBase);
    for (const [wrong, said] of [
      [{ relations: ['archived'] }, /"relations\[0\]" is "archived", one of "states"/],
      [{ states: ['viewer'] }, /"states\[0\]" is "viewer", a built-in relation/],
      [{ rules: [{ namespace: 'repo', name: 'archived', any_of: ['viewer'] }] }, /a state follows from nothing/],
      [{ rules: [{ namespace: 'repo', name: 'can', any_of: ['viewer from archived'] }] }, /a state, which leads to no/],
      [{ types: [{ namespace: 'repo', relation: 'archived', subjects: ['user'] }] }, /has no types/],
      [{ types: [{ namespace: 'repo', relation: 'viewer', subjects: ['repo#archived'] }] }, /has no members/],
    ] as const) {
      const answer = await send(key, 'PUT', '/v1/rules', { ...RULES, rules: [], ...wrong });
      assertProblem(answer, 400, 'invalid-request', service.errorsBase);
      assert.match(String(fieldsOf(answer).detail), said);
    }
  });
});
