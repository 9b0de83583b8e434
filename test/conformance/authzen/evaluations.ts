// The evaluations of the AuthZEN interface beyond the suite's modules, and what all its endpoints refuse and ignore.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { assertProblem } from '../../kit/http-client.ts';
import type { HttpService } from '../../kit/http-service.ts';
import {
  ACTIONS,
  AccessClient,
  ENDPOINTS,
  GRANTS,
  type Json,
  READ,
  RECORD,
  REQUEST,
  RESOURCES,
  RULES,
  record,
  SUBJECTS,
  user,
} from '../support/authzen-client.ts';
import { oneService } from '../support/one-service.ts';

/** A request of an endpoint with something changed, the code of its problem, and what the detail names. */
const REFUSALS: readonly (readonly [string, Json, string, RegExp])[] = [
  ['evaluation', { subject: undefined }, 'invalid-subject', /"subject" .* missing/],
  ['evaluation', { subject: null }, 'invalid-subject', /"subject"/],
  ['evaluation', { subject: 'user:alice' }, 'invalid-subject', /"subject"/],
  ['evaluation', { subject: [user('alice')] }, 'invalid-subject', /"subject"/],
  ['evaluation', { subject: { id: 'alice' } }, 'invalid-subject', /"subject.type"/],
  ['evaluation', { subject: { type: 'user' } }, 'invalid-subject', /"subject.id"/],
  ['evaluation', { subject: { type: 'user', id: 5 } }, 'invalid-subject', /"subject.id"/],
  ['evaluation', { subject: { ...user('alice'), properties: [] } }, 'invalid-subject', /"subject.properties"/],
  ['evaluation', { action: undefined }, 'invalid-relation', /"action"/],
  ['evaluation', { action: 'read' }, 'invalid-relation', /"action"/],
  ['evaluation', { action: {} }, 'invalid-relation', /"action.name"/],
  ['evaluation', { action: { name: null } }, 'invalid-relation', /"action.name"/],
  ['evaluation', { action: { ...READ, properties: 'x' } }, 'invalid-relation', /"action.properties"/],
  ['evaluation', { resource: { type: 'record' } }, 'invalid-object', /"resource.id"/],
  ['evaluation', { resource: { ...RECORD, properties: 1 } }, 'invalid-object', /"resource.properties"/],
  ['evaluation', { context: 'now' }, 'invalid-request', /"context"/],
  ['evaluation', { context: [] }, 'invalid-request', /"context"/],
  ['evaluations', { options: [] }, 'invalid-request', /"options"/],
  ['evaluations', { options: { evaluations_semantic: 'all' } }, 'invalid-request', /evaluations_semantic/],
  ['evaluations', { options: { evaluations_semantic: 1 } }, 'invalid-request', /evaluations_semantic/],
  ['evaluations', { evaluations: {} }, 'invalid-request', /"evaluations"/],
  ['evaluations', { evaluations: [], subject: undefined }, 'invalid-subject', /"subject"/],
  ['evaluations', { evaluations: [{}], subject: 'alice' }, 'invalid-subject', /"subject"/],
  ['evaluations', { evaluations: [{}], action: { name: 1 } }, 'invalid-relation', /"action.name"/],
  ['evaluations', { evaluations: [{}], context: 1 }, 'invalid-request', /"context"/],
  ['search/subject', { subject: {} }, 'invalid-subject', /"subject.type"/],
  ['search/subject', { resource: { type: 'record' } }, 'invalid-object', /"resource.id"/],
  ['search/subject', { context: 1 }, 'invalid-request', /"context"/],
  ['search/resource', { subject: { type: 'user' } }, 'invalid-subject', /"subject.id"/],
  ['search/resource', { resource: 'record' }, 'invalid-object', /"resource"/],
  ['search/resource', { action: undefined }, 'invalid-relation', /"action"/],
  ['search/action', { subject: { type: 'user' } }, 'invalid-subject', /"subject.id"/],
  ['search/action', { resource: { type: 'record' } }, 'invalid-object', /"resource.id"/],
];

const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);

describe('the AuthZEN interface', () => {
  let service: HttpService;
  let client: AccessClient;
  let tenantId = '';
  before(async () => {
    service = await oneService();
    const created = await AccessClient.create(service, RULES, GRANTS);
    client = created;
    tenantId = created.tenantId;
  });

  it('needs a key with the scope check:read, and counts as everything else does', async () => {
    const standard = new AccessClient(service, (await service.createTenant('standard')).key);
    const { key } = await service.createKey(tenantId, { scopes: ['grant:write', 'admin'] });
    const writing = new AccessClient(service, key);
    for (const [endpoint, body] of Object.entries(ENDPOINTS)) {
      const path = `/access/v1/${endpoint}`;
      assertProblem(await service.send({ method: 'POST', path, body }), 401, 'unauthorized', service.errorsBase);
      await new AccessClient(service, 'gk1_junk').refuses(endpoint, body, 'unauthorized', 401);
      await writing.refuses(endpoint, body, 'insufficient-scope', 403);
      const counted = await standard.post(endpoint, body);
      assert.equal(counted.status, 200);
      assert.equal(counted.headers['x-service-ratelimit-limit'], '200');
    }
    const hidden = await service.send({ method: 'POST', path: '/access/v1/search', body: {} });
    assertProblem(hidden, 401, 'unauthorized', service.errorsBase);
    await client.refuses('search', {}, 'not-found', 404);
    await client.refuses('evaluation/', REQUEST, 'not-found', 404);
  });

  it('takes POST only, and no parameters', async () => {
    for (const endpoint of Object.keys(ENDPOINTS)) {
      for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
        const answer = await service.send({ method, path: `/access/v1/${endpoint}`, key: client.key });
        assertProblem(answer, 405, 'method-not-allowed', service.errorsBase);
        assert.equal(answer.headers.allow, 'POST');
      }
    }
    await client.refuses('evaluation?x=1', REQUEST, 'invalid-request');
  });

  it('takes JSON objects only', async () => {
    for (const [endpoint, body] of Object.entries(ENDPOINTS)) {
      for (const broken of ['', '[]', '"x"', '1', 'null', '{', '{"subject":}', `${JSON.stringify(body)}x`]) {
        await client.refuses(endpoint, broken, 'invalid-request');
      }
      await client.refuses(endpoint, [body], 'invalid-request');
      for (const type of ['text/plain', 'application/xml', 'application/json; charset=latin1', '']) {
        assert.equal((await client.post(endpoint, body, { 'content-type': type })).status, 415, type);
      }
      for (const type of ['application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"']) {
        assert.equal((await client.post(endpoint, body, { 'content-type': type })).status, 200, type);
      }
    }
  });

  it('refuses what is missing or of another type, and names it', async () => {
    for (const [endpoint, change, code, named] of REFUSALS) {
      assert.match(await client.refuses(endpoint, { ...ENDPOINTS[endpoint], ...change }, code), named);
    }
    for (const page of [
      [],
      'x',
      { limit: -1 },
      { limit: 1.5 },
      { limit: 2 ** 53 },
      { limit: '1' },
      { token: 1 },
      { properties: 1 },
    ]) {
      for (const endpoint of ['search/subject', 'search/resource', 'search/action']) {
        await client.refuses(endpoint, { ...ENDPOINTS[endpoint], page }, 'invalid-request');
      }
    }
  });

  it('ignores attributes and unknown fields, however deep, and nulls for what is optional', async () => {
    const deep = nested(2000);
    const properties = { role: 'admin', '': null, deep };
    for (const [endpoint, body] of Object.entries(ENDPOINTS)) {
      const plain = await client.ask(endpoint, body);
      const entities = Object.fromEntries(
        Object.entries(body).map(([name, entity]) => [name, { ...(entity as Json), properties, x: 1 }]),
      );
      const page = { custom: [1], properties: { sort: 'up' } };
      assert.deepEqual(await client.ask(endpoint, { ...entities, context: { a: 1 }, foo: [], page }), plain);
      const nulls = { context: null, page: null, options: null, evaluations: null };
      assert.deepEqual(await client.ask(endpoint, { ...body, ...nulls }), plain);
    }
    // As everywhere, the depth of a long text has a bound.
    await client.refuses('evaluation', { ...REQUEST, context: { deep: nested(10_000) } }, 'invalid-request');
    await client.refuses('evaluation', { ...REQUEST, context: { x: 'x'.repeat(64 * 1024) } }, 'payload-too-large', 413);
  });

  describe('an evaluation', () => {
    it('permits what a check of the identifiers authorizes', async () => {
      const cases: readonly (readonly [Json, boolean])[] = [
        [{}, true],
        [{ resource: record('2') }, true],
        [{ action: { name: 'write' } }, true],
        [{ action: { name: 'write' }, resource: record('2') }, false],
        [{ action: { name: 'editor' } }, true],
        [{ action: { name: 'write' }, subject: user('bob') }, false],
        [{ subject: user('carol') }, false],
        [{ subject: user('carol'), resource: record('3') }, true],
        [{ subject: user('eve'), resource: record('4') }, true],
        [{ subject: user('dave'), resource: record('5') }, true],
        [{ subject: { type: 'group', id: 'eng#member' }, resource: record('3') }, true],
        [{ resource: { type: 'spaceship', id: '1' } }, false],
      ];
      for (const [change, decision] of cases) {
        assert.equal(await client.decide(change), decision, JSON.stringify(change));
      }
    });

    it('never takes one pair of type and id for another', async () => {
      assert.equal(await client.decide({ subject: user('a:b') }), true);
      for (const type of ['user:a', ':user', 'user:', '', '1', 'us er', 'x'.repeat(65), 'ü']) {
        const entity = { type, id: 'b' };
        await client.refuses('evaluation', { ...REQUEST, subject: entity }, 'invalid-subject');
        await client.refuses('evaluation', { ...REQUEST, resource: entity }, 'invalid-object');
      }
      for (const id of ['', ' ', 'a b', 'a\n', '\u00a0', 'x'.repeat(257), '\ud800']) {
        await client.refuses('evaluation', { ...REQUEST, resource: record(id) }, 'invalid-object');
      }
    });

    it('denies an action that no rule defines, and says so', async () => {
      for (const name of ['fly', 'GET', 'can read', '', '__proto__', 'x'.repeat(1000), 'read from parent', '😀']) {
        const { decision, context } = await client.ask('evaluation', { ...REQUEST, action: { name } });
        assert.equal(decision, false, name);
        assert.match((context as { reason: string }).reason, /nor a name that a rule defines/);
      }
      const { context } = await client.ask('evaluation', { ...REQUEST, action: { name: 'reads' } });
      assert.match(JSON.stringify(context), /defines\. Did you mean \\"read\\"\? Names on record: .*\bread\b.*\."/);
      const known = await client.ask('evaluation', { ...REQUEST, action: { name: 'owner' } });
      assert.deepEqual(known, { decision: false });
    });

    it('knows the relations of a tenant without rules', async () => {
      const plain = await AccessClient.create(service, undefined, ['user:alice viewer record:1']);
      const viewer = { name: 'viewer' };
      assert.deepEqual([await plain.decide({ action: viewer }), await plain.decide({})], [true, false]);
      assert.equal(await plain.decide({ action: { name: 'editor' } }), false);
      assert.deepEqual(await plain.find('action', ACTIONS), ['viewer']);
      assert.deepEqual(await plain.find('subject', { ...SUBJECTS, action: viewer }), ['user:alice']);
      assert.deepEqual(await plain.find('resource', { ...RESOURCES, action: viewer }), ['record:1']);
      assert.deepEqual(await plain.find('resource', RESOURCES), []);
    });

    it('sees what was acknowledged before, and nothing of another tenant', async () => {
      const other = await AccessClient.create(service, RULES, ['user:alice viewer record:9']);
      const resource = record('9');
      assert.deepEqual([await client.decide({ resource }), await other.decide({ resource })], [false, true]);
      const grant = { subject: 'user:alice', relation: 'viewer', object: 'record:9' };
      await other.succeed('DELETE', '/v1/grants', grant);
      assert.equal(await other.decide({ resource }), false);
    });

    it('is answered by the owner of the tenant, whatever it asks about', async () => {
      const tenant = await AccessClient.create(service, RULES, GRANTS);
      const nothing = { type: 'no type', id: 'x' };
      const bodies: readonly (readonly [string, Json])[] = [
        ['evaluation', REQUEST],
        ['evaluation', { ...REQUEST, action: { name: 'can read' } }],
        ['evaluations', { evaluations: [{}] }],
        ['search/subject', { ...SUBJECTS, subject: nothing }],
        ['search/action', { ...ACTIONS, subject: nothing }],
      ];
      for (const [endpoint, body] of bodies) await tenant.ask(endpoint, body);
      await service.setState(tenant.tenantId, 'suspended');
      for (const [endpoint, body] of bodies) await tenant.refuses(endpoint, body, 'tenant-suspended', 403);
    });
  });

  describe('evaluations', () => {
    const write = { action: { name: 'write' } };
    const bob = { subject: user('bob'), resource: RECORD };

    it('replace defaults as a whole', async () => {
      const elements = [{}, { resource: { id: '2' } }, { resource: record('2') }];
      assert.deepEqual(await client.decideAll({ ...REQUEST, evaluations: elements }), [true, false, true]);
      const incomplete = { ...REQUEST, resource: { type: 'record' }, evaluations: [{}, { resource: RECORD }] };
      assert.deepEqual(await client.decideAll(incomplete), [false, true]);
      const own = [REQUEST, { ...REQUEST, action: { name: 'owner' } }];
      assert.deepEqual(await client.decideAll({ evaluations: own }), [true, false]);
      const nulls = [{ subject: null }, { context: null }];
      assert.deepEqual(await client.decideAll({ ...REQUEST, evaluations: nulls }), [false, true]);
    });

    it('deny an ill-formed element by itself, and say why', async () => {
      const noType = { subject: { type: 'us er', id: 'x' } };
      const ill = ['x', null, [], 1, { subject: 'x' }, noType, { context: 1 }, { action: {} }];
      const { evaluations } = await client.ask('evaluations', { ...REQUEST, evaluations: [{}, ...ill, {}] });
      const list = evaluations as readonly { context?: { error?: { status: number; message: string } } }[];
      for (const [index, { context, ...rest }] of list.slice(1, -1).entries()) {
        assert.deepEqual(rest, { decision: false });
        assert.equal(context?.error?.status, 400);
        assert.ok(context.error.message.startsWith(`"evaluations[${index + 1}]`), context.error.message);
      }
      assert.equal(list.length, ill.length + 2);
      assert.deepEqual([list[0], list.at(-1)], [{ decision: true }, { decision: true }]);
      assert.deepEqual(await client.decideAll({ evaluations: [{}] }), [false]);
      const fly = await client.ask('evaluations', { ...REQUEST, evaluations: [{ action: { name: 'fly' } }, {}] });
      assert.match(JSON.stringify(fly), /\[\{"decision":false,"context":\{"reason":".*"\}\},\{"decision":true\}\]/);
      // Beyond the first ones, a reason names no others: that takes time.
      const misspelled = Array.from({ length: 12 }, () => ({ action: { name: 'reads' } }));
      const all = JSON.stringify(await client.ask('evaluations', { ...REQUEST, evaluations: misspelled }));
      assert.equal(all.split('nor a name that a rule defines').length - 1, 12);
      assert.equal(all.split('Did you mean').length - 1, 10);
    });

    it('end where their semantic is settled', async () => {
      const settled = async (evaluations_semantic: string, evaluations: readonly Json[]) =>
        client.decideAll({ ...bob, evaluations, options: { evaluations_semantic, other: 1 } });
      const read = { action: READ };
      assert.deepEqual(await settled('execute_all', [write, read, write]), [false, true, false]);
      assert.deepEqual(await settled('deny_on_first_deny', [write, read, write]), [false]);
      assert.deepEqual(await settled('deny_on_first_deny', [read, {}, read]), [true, false]);
      assert.deepEqual(await settled('deny_on_first_deny', [read, read]), [true, true]);
      assert.deepEqual(await settled('permit_on_first_permit', [write, read, write]), [false, true]);
      assert.deepEqual(await settled('permit_on_first_permit', [{}, { action: { name: 'fly' } }]), [false, false]);
      assert.deepEqual(await client.decideAll({ ...bob, evaluations: [write, read], options: {} }), [false, true]);
    });

    it('are 100 at most', async () => {
      const many = (count: number) => ({ ...REQUEST, evaluations: Array.from({ length: count }, () => ({})) });
      assert.deepEqual(await client.decideAll(many(100)), Array(100).fill(true));
      await client.refuses('evaluations', many(101), 'bulk-too-large');
      await client.refuses('evaluations', { options: 1, evaluations: Array(101).fill('x') }, 'bulk-too-large');
    });

    it('are a single evaluation without elements, and an evaluation knows no others', async () => {
      for (const more of [{}, { evaluations: [] }, { evaluations: null }]) {
        assert.deepEqual(await client.ask('evaluations', { ...REQUEST, ...more }), { decision: true });
      }
      const evaluations = [{ action: { name: 'fly' } }];
      assert.deepEqual(await client.ask('evaluation', { ...REQUEST, evaluations }), { decision: true });
    });
  });
});
