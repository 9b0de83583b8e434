// Own relations through both interfaces: granted once they are declared, refused otherwise, shown wherever grants are.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Answer, assertProblem, call } from '../../kit/http-client.ts';
import { oneService } from '../support/one-service.ts';

const RULES = {
  relations: ['assignee', 'blocked'],
  rules: [{ namespace: 'task', name: 'can_edit', any_of: ['assignee', 'can_edit from assignee'] }],
  groups: true,
};
const TUPLE = { subject: 'user:ada', relation: 'assignee', object: 'task:1' };
const QUERY = 'subject=user:ada&relation=assignee';

const fieldsOf = ({ json }: Answer) => json as Record<string, unknown>;

const service = await oneService();

describe('own relations', () => {
  const send = (key: string, method: string, path: string, body?: unknown): Promise<Answer> =>
    service.send({ method, path, key, ...(body === undefined ? {} : { body }) });
  const createTenant = async (rules: object = RULES) => {
    const tenant = await service.createTenant();
    assert.equal((await send(tenant.key, 'PUT', '/v1/rules', rules)).status, 200);
    return tenant;
  };
  const operate = (method: string, path: string, body?: unknown) =>
    call(service.consoleUrl, { method, path: `/operator/v1${path}`, body, key: service.operatorToken });

  it('are granted, checked, explained, listed, followed by rules and revoked like the built-in ones', async () => {
    const { key } = await createTenant();
    const granted = await send(key, 'POST', '/v1/grants', TUPLE);
    assert.equal(granted.status, 201, granted.text);
    assert.equal((await send(key, 'POST', '/v1/grants', TUPLE)).status, 200);
    for (const relation of ['assignee', 'can_edit']) {
      const checked = await send(key, 'POST', '/v1/check', { ...TUPLE, relation, explain: true });
      assert.equal(fieldsOf(checked).authorized, true);
      assert.deepEqual(fieldsOf(checked).because, [granted.json]);
    }
    const bulk = await send(key, 'POST', '/v1/check/bulk', { checks: [TUPLE, { ...TUPLE, relation: 'blocked' }] });
    assert.match(bulk.text, /"authorized":true.*"authorized":false/);
    assert.deepEqual(fieldsOf(await send(key, 'GET', `/v1/objects?${QUERY}`)).objects, ['task:1']);
    assert.deepEqual(fieldsOf(await send(key, 'GET', `/v1/objects?${QUERY}&via=direct`)).objects, ['task:1']);
    const subjects = await send(key, 'GET', '/v1/subjects?object=task:1&relation=can_edit');
    assert.deepEqual(fieldsOf(subjects).subjects, ['user:ada', 'user:ada#can_edit']);
    assert.deepEqual(fieldsOf(await send(key, 'GET', `/v1/grants?${QUERY}`)).grants, [granted.json]);
    const changes = await send(key, 'GET', '/v1/changes?relation=assignee&action=grant.created');
    assert.ok(changes.text.includes(granted.text), changes.text);
    assert.equal((await send(key, 'DELETE', '/v1/grants', TUPLE)).status, 204);
    assert.equal(fieldsOf(await send(key, 'POST', '/v1/check', TUPLE)).authorized, false);
  });

  it('are actions of AuthZEN where no names are derived', async () => {
    const { key } = await createTenant({ relations: ['assignee'], rules: [] });
    await send(key, 'POST', '/v1/grants', TUPLE);
    const question = { subject: { type: 'user', id: 'ada' }, resource: { type: 'task', id: '1' } };
    const decided = await send(key, 'POST', '/access/v1/evaluation', { ...question, action: { name: 'assignee' } });
    assert.equal(fieldsOf(decided).decision, true);
    const searched = await send(key, 'POST', '/access/v1/search/action', question);
    assert.deepEqual(fieldsOf(searched).results, [{ name: 'assignee' }]);
  });

  it('are refused by a tenant that does not declare them, in the words of one that declares none', async () => {
    const plain = await service.createTenant();
    const other = await createTenant({ relations: ['reviewer'], rules: [] });
    const list = `"relation" must be one of owner, admin, manager, editor, commenter, viewer, member, guest, parent`;
    const end =
      'it is "assignee", which is not one of them; names that rules define are asked about, and cannot be granted.';
    const details = [`${list}; ${end}`, `${list}, reviewer; ${end}`];
    for (const [index, { key }] of [plain, other].entries()) {
      for (const [method, path, body] of [
        ['POST', '/v1/grants', TUPLE],
        ['DELETE', '/v1/grants', TUPLE],
        ['DELETE', `/v1/grants?${QUERY}&object=task:1`, undefined],
        ['POST', '/v1/grants/revoke', { subject: 'user:ada', relation: 'assignee' }],
        ['GET', `/v1/grants?${QUERY}`, undefined],
        ['GET', '/v1/changes?relation=assignee', undefined],
      ] as const) {
        const answer = await send(key, method, path, body);
        assertProblem(answer, 400, 'invalid-relation', service.errorsBase);
        assert.equal(fieldsOf(answer).detail, details[index], `${method} ${path}`);
      }
      for (const path of [`/v1/objects?${QUERY}`, `/v1/objects?${QUERY}&via=direct`]) {
        assertProblem(await send(key, 'GET', path), 400, 'invalid-relation', service.errorsBase);
      }
      const bulk = await send(key, 'POST', '/v1/grants/bulk', { grants: [{ ...TUPLE, relation: 'viewer' }, TUPLE] });
      assertProblem(bulk, 400, 'invalid-relation', service.errorsBase);
      assert.match(String(fieldsOf(bulk).detail), /^"grants\[1\]\.relation" must be one of /);
      assert.deepEqual(fieldsOf(await send(key, 'GET', '/v1/grants?subject=user:ada')).grants, []);
    }
  });

  it('are not removed while they have grants, which a dry run says too', async () => {
    const { key } = await createTenant();
    await send(key, 'POST', '/v1/grants', TUPLE);
    for (const query of ['', '?dry_run=true']) {
      const refused = await send(key, 'PUT', `/v1/rules${query}`, { ...RULES, relations: ['blocked'], rules: [] });
      assertProblem(refused, 409, 'relation-in-use', service.errorsBase);
      assert.match(String(fieldsOf(refused).detail), /"assignee" has 1\. /);
    }
    await send(key, 'POST', '/v1/grants/revoke', { subject: 'user:ada' });
    const removed = await send(key, 'PUT', '/v1/rules', { ...RULES, relations: ['blocked'], rules: [] });
    assert.equal(removed.status, 200, removed.text);
    assertProblem(await send(key, 'POST', '/v1/grants', TUPLE), 400, 'invalid-relation', service.errorsBase);
  });

  it('are imported line by line, exported, and part of the audit log', async () => {
    const { key, tenantId } = await createTenant();
    const lines = [TUPLE, { ...TUPLE, relation: 'asignee' }, { ...TUPLE, relation: 'viewer' }];
    const imported = await call(service.consoleUrl, {
      method: 'POST',
      path: `/operator/v1/tenants/${tenantId}/import`,
      body: lines.map((line) => JSON.stringify(line)).join('\n'),
      headers: { 'content-type': 'application/x-ndjson' },
      key: service.operatorToken,
    });
    const results = imported.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, string>);
    assert.deepEqual(
      results.map(({ result }) => result),
      ['created', 'refused', 'created'],
    );
    assert.match(results[1]?.detail ?? '', /did you mean "assignee"\?$/);
    const exported = await operate('GET', `/tenants/${tenantId}/export`);
    assert.match(exported.text, /"relation":"assignee"/);
    const audited = await operate('GET', `/tenants/${tenantId}/audit-log?action=grant.created`);
    assert.match(audited.text, /"relation":"assignee"/);
    assert.equal(fieldsOf(await send(key, 'POST', '/v1/check', TUPLE)).authorized, true);
  });
});
