// Searches of the AuthZEN interface: what is found, page by page, and tokens that lead nowhere else than on.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { HttpService } from '../../kit/http-service.ts';
import {
  ACTIONS,
  AccessClient,
  GRANTS,
  type Json,
  READ,
  RECORD,
  RESOURCES,
  RULES,
  record,
  SUBJECTS,
  user,
} from '../support/authzen-client.ts';
import { oneService } from '../support/one-service.ts';

const KINDS = ['subject', 'resource', 'action'] as const;
const BODIES = { subject: SUBJECTS, resource: RESOURCES, action: ACTIONS };
const FOUND = {
  subject: ['user:a:b', 'user:alice', 'user:bob'],
  resource: ['record:1', 'record:2', 'record:4'],
  action: ['read', 'write'],
};

describe('AuthZEN searches', () => {
  let service: HttpService;
  let client: AccessClient;
  before(async () => {
    service = await oneService();
    client = await AccessClient.create(service, RULES, GRANTS);
  });

  it('find what evaluations permit, through groups, parents and what is public', async () => {
    for (const kind of KINDS) assert.deepEqual(await client.find(kind, BODIES[kind]), FOUND[kind]);
    const whoReads = async (id: string, type = 'user') =>
      client.find('subject', { ...SUBJECTS, subject: { type }, resource: record(id) });
    assert.deepEqual(await whoReads('3'), ['user:carol']);
    assert.deepEqual(await whoReads('3', 'group'), ['group:eng#member']);
    assert.deepEqual(await whoReads('4'), ['user:*']);
    assert.deepEqual(await whoReads('5'), ['user:dave']);
    assert.deepEqual(await client.find('resource', { ...RESOURCES, subject: user('carol') }), ['record:3', 'record:4']);
    assert.deepEqual(await client.find('resource', { ...RESOURCES, subject: user('dave') }), ['record:4', 'record:5']);
    assert.deepEqual(await client.find('action', { ...ACTIONS, subject: user('bob') }), ['read']);
    for (const subject of [
      user('carol'),
      user('*'),
      { type: 'group', id: 'eng#member' },
      user('dave'),
      user('alice'),
    ]) {
      const resources = await client.find('resource', { ...RESOURCES, subject });
      for (const id of ['1', '2', '3', '4', '5']) {
        const permitted = await client.decide({ subject, resource: record(id) });
        assert.equal(resources.includes(`record:${id}`), permitted, JSON.stringify([subject, id]));
      }
    }
  });

  it('ignore the id of what is searched for, and the action of an action search', async () => {
    for (const id of ['alice', 'x y', '', 5, null, {}]) {
      assert.deepEqual(await client.find('subject', { ...SUBJECTS, subject: { type: 'user', id } }), FOUND.subject);
      const resources = { ...RESOURCES, resource: { type: 'record', id } };
      assert.deepEqual(await client.find('resource', resources), FOUND.resource);
    }
    for (const action of [READ, 'x', null, {}]) {
      assert.deepEqual(await client.find('action', { ...ACTIONS, action }), FOUND.action);
    }
  });

  it('find nothing of what is not known, or can be in no grant', async () => {
    const types = ['spaceship', 'no type', 'user:alice', '', 'x'.repeat(65)];
    for (const type of types) {
      const entity = { type, id: 'x' };
      assert.deepEqual(await client.find('subject', { ...SUBJECTS, subject: { type } }), [], type);
      assert.deepEqual(await client.find('subject', { ...SUBJECTS, resource: entity }), [], type);
      assert.deepEqual(await client.find('resource', { ...RESOURCES, resource: { type } }), [], type);
      assert.deepEqual(await client.find('action', { ...ACTIONS, resource: entity }), [], type);
    }
    for (const id of ['nobody', 'no id', '', 'x'.repeat(300)]) {
      assert.deepEqual(await client.find('action', { ...ACTIONS, subject: { type: 'machine', id } }), [], id);
      assert.deepEqual(await client.find('resource', { ...RESOURCES, subject: { type: 'machine', id } }), [], id);
      assert.deepEqual(await client.find('subject', { ...SUBJECTS, resource: record(id) }), [], id);
    }
    for (const name of ['fly', 'can read', '']) {
      assert.deepEqual(await client.find('subject', { ...SUBJECTS, action: { name } }), [], name);
      assert.deepEqual(await client.find('resource', { ...RESOURCES, action: { name } }), [], name);
    }
    assert.deepEqual(await client.ask('search/action', { ...ACTIONS, resource: { type: 'no type', id: 'x' } }), {
      page: { next_token: '', count: 0 },
      results: [],
    });
  });

  it('are complete in pages of any size, with a token that stands before the results', async () => {
    const ids = Array.from({ length: 250 }, (_, index) => `r${index}`);
    const grants = ids.map((id) => `user:alice viewer record:${id}`);
    for (const rules of [RULES, undefined]) {
      const many = await AccessClient.create(service, rules, grants);
      const action = { name: rules === undefined ? 'viewer' : 'read' };
      const wanted = ids.map((id) => `record:${id}`).sort();
      for (const limit of [undefined, 7, 100, 249, 250, 1000, 1_000_000]) {
        assert.deepEqual(await many.find('resource', { ...RESOURCES, action }, limit), wanted, `limit ${limit}`);
      }
    }
    for (const kind of KINDS) {
      assert.deepEqual(await client.find(kind, BODIES[kind], 1), FOUND[kind]);
      const { text } = await client.post(`search/${kind}`, { ...BODIES[kind], page: { limit: 1 } });
      assert.match(text, /^\{"page":\{"next_token":"[^"]+","count":1\},"results":\[/);
    }
  });

  it('say beside all subjects of a type whom a gate takes out of them, on each page', async () => {
    const rules = {
      rules: [{ namespace: 'record', name: 'read', any_of: [{ any_of: ['viewer'], but_not: ['guest'] }] }],
      public: ['user'],
    };
    const blocked = ['ann', 'bob', 'eve'].map((id) => `user:${id} guest record:1`);
    const viewers = ['ann', 'bob', 'eve', 'max', '*'].map((id) => `user:${id} viewer record:1`);
    const gated = await AccessClient.create(service, rules, [...blocked, ...viewers]);
    const asked = { ...SUBJECTS, resource: record('1') };
    const all = await gated.ask('search/subject', asked);
    assert.deepEqual(all.results, [
      { type: 'user', id: '*', properties: { excluded: ['ann', 'bob', 'eve'] } },
      { type: 'user', id: 'max' },
    ]);
    const first = await gated.ask('search/subject', { ...asked, page: { limit: 2 } });
    assert.deepEqual(first.results, [{ type: 'user', id: '*', properties: { excluded: ['ann'] } }]);
    const { next_token: token } = first.page as { next_token: string };
    const second = await gated.ask('search/subject', { ...asked, page: { limit: 2, token } });
    assert.deepEqual(second.results, [{ type: 'user', id: '*', properties: { excluded: ['bob', 'eve'] } }]);
  });

  it('have a limit of nothing, too: then they only say whether there is anything', async () => {
    for (const kind of KINDS) {
      const none = await client.page(kind, { ...BODIES[kind], page: { limit: 0 } });
      assert.deepEqual(none.found, []);
      assert.notEqual(none.token, '');
      const again = await client.page(kind, { ...BODIES[kind], page: { limit: 0, token: none.token } });
      assert.deepEqual(again, none);
      const rest = await client.page(kind, { ...BODIES[kind], page: { token: none.token } });
      assert.deepEqual(rest, { found: FOUND[kind], token: '' });
    }
    const empty = { ...SUBJECTS, subject: { type: 'spaceship' }, page: { limit: 0 } };
    assert.deepEqual(await client.page('subject', empty), { found: [], token: '' });
  });

  it('continue the same request only; the limit may be left out', async () => {
    for (const kind of KINDS) {
      const properties = { a: 1, b: [{ c: 2, d: 3 }] };
      const context = { time: 'now', place: { x: 1, y: 2 } };
      const body: Json = { ...BODIES[kind], context };
      const { token } = await client.page(kind, { ...body, page: { limit: 1, properties } });
      const rest = FOUND[kind].slice(1, 2);
      const same = { ...body, context: { place: { y: 2, x: 1 }, time: 'now' }, unknown: 1 };
      for (const page of [{ limit: 1, token }, { token }, { token, x: 1 }]) {
        const { found } = await client.page(kind, { ...same, page: { ...page, properties } });
        assert.deepEqual(found, rest);
      }
      const refused = (change: Json, page: Json = {}): Promise<string> =>
        client.refuses(
          `search/${kind}`,
          { ...body, ...change, page: { token, properties, ...page } },
          'invalid-cursor',
        );
      await refused({}, { limit: 2 });
      await refused({}, { properties: { ...properties, a: 2 } });
      await refused({}, { properties: undefined });
      await refused({ context: { time: 'later' } });
      await refused({ context: undefined });
      await refused({ subject: { type: 'user', ...(kind === 'subject' ? { properties } : { id: 'bob' }) } });
      await refused({ resource: { type: 'record', ...(kind === 'resource' ? { properties } : { id: '2' }) } });
      if (kind !== 'action') await refused({ action: { name: 'write' } });
    }
  });

  it('take no token of another search, of another tenant, or that was changed', async () => {
    const twin = await AccessClient.create(service, RULES, GRANTS);
    for (const kind of KINDS) {
      const { token } = await client.page(kind, { ...BODIES[kind], page: { limit: 1 } });
      const body = (changed: string) => ({ ...BODIES[kind], page: { token: changed } });
      assert.match(await twin.refuses(`search/${kind}`, body(token), 'invalid-cursor'), /"page.token"/);
      for (const other of KINDS.filter((each) => each !== kind)) {
        await client.refuses(`search/${other}`, { ...BODIES[other], page: { token } }, 'invalid-cursor');
      }
      const broken = ['x', '.', '..', `${token}x`, `x${token}`, token.slice(0, -1), `2${token.slice(1)}`, `${token}=`];
      for (const changed of [...broken, token.toUpperCase(), 'x'.repeat(10_000), '\u0000']) {
        await client.refuses(`search/${kind}`, body(changed), 'invalid-cursor');
      }
      // The end of a search is no place to continue at: it begins again.
      assert.deepEqual((await client.page(kind, body(''))).found, FOUND[kind]);
    }
  });

  it('list as actions the derived names of a type, and where there are none its relations', async () => {
    const grants = ['user:alice owner record:1', 'user:alice owner folder:1', 'user:alice owner file:1'];
    const rules = {
      rules: [
        { namespace: 'record', name: 'editor', any_of: ['owner'] },
        { namespace: 'record', name: 'write', any_of: ['editor'] },
        { namespace: 'folder', name: 'editor', any_of: ['owner'] },
      ],
    };
    const tenant = await AccessClient.create(service, rules, grants);
    const actionsOn = (type: string) => tenant.find('action', { ...ACTIONS, resource: { type, id: '1' } });
    assert.deepEqual(await actionsOn('record'), ['write']);
    assert.deepEqual(await actionsOn('folder'), ['editor', 'owner']);
    assert.deepEqual(await actionsOn('file'), ['owner']);
    for (const name of ['owner', 'editor', 'write']) {
      assert.equal(await tenant.decide({ action: { name }, resource: RECORD }), true, name);
    }
  });
});
