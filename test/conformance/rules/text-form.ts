// Rules in the text form: set, read, listed as versions and refused through both doors, in either form.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RULES_SOURCE_BYTES_MAX } from '../../../src/rules/rule-set.ts';
import { assertProblem, call } from '../../kit/http-client.ts';
import { oneService } from '../support/one-service.ts';

const TYPE = 'text/vnd.grantd.rules';
const TEXT = `# Who may read what.
namespace folder
  viewer: user, team#member   # and teams
  can_read = viewer or can_read from parent

namespace document
  can_read = viewer or can_read from parent but not blocked
  blocked: user
`;
const RULES = {
  relations: ['blocked'],
  types: [
    { namespace: 'folder', relation: 'viewer', subjects: ['user', 'team#member'] },
    { namespace: 'document', relation: 'blocked', subjects: ['user'] },
  ],
  rules: [
    { namespace: 'folder', name: 'can_read', any_of: ['viewer', 'can_read from parent'] },
    {
      namespace: 'document',
      name: 'can_read',
      any_of: [{ any_of: ['viewer', 'can_read from parent'], but_not: ['blocked'] }],
    },
  ],
  groups: true,
  public: [],
};

const service = await oneService();

describe('rules in the text form', () => {
  const put = (
    key: string,
    text: string,
    options: { type?: string; query?: string; headers?: Record<string, string> } = {},
  ) =>
    service.send({
      method: 'PUT',
      path: `/v1/rules${options.query ?? ''}`,
      key,
      body: text,
      headers: { 'content-type': options.type ?? TYPE, ...options.headers },
    });
  const read = (key: string, accept?: string, path = '') =>
    service.send({ method: 'GET', path: `/v1/rules${path}`, key, headers: accept === undefined ? {} : { accept } });

  it('are kept as they were set, and read in either form with one revision', async () => {
    const { key } = await service.createTenant();
    const set = await put(key, TEXT);
    assert.deepEqual([set.status, set.json], [200, RULES]);
    const text = await read(key, TYPE);
    assert.deepEqual([text.status, text.text], [200, TEXT]);
    assert.equal(text.headers['content-type'], `${TYPE}; charset=utf-8`);
    for (const accept of [undefined, '*/*', 'application/json', `${TYPE};q=0.5, application/json`]) {
      const json = await read(key, accept);
      assert.deepEqual([json.status, json.json, json.headers.etag], [200, RULES, text.headers.etag]);
    }
    assert.equal(set.headers.etag, text.headers.etag);
    assert.equal((await read(key, TYPE, '/versions/1')).text, TEXT);
    assert.deepEqual((await read(key, undefined, '/versions/1')).json, RULES);
  });

  it('decide checks as the same rules in JSON do', async () => {
    const { key } = await service.createTenant();
    await put(key, TEXT, { type: `${TYPE}; charset=UTF-8` });
    for (const [subject, relation, object] of [
      ['team:a#member', 'viewer', 'folder:f'],
      ['user:ada', 'member', 'team:a'],
      ['user:bob', 'member', 'team:a'],
      ['folder:f', 'parent', 'document:d'],
      ['user:bob', 'blocked', 'document:d'],
    ]) {
      const granted = await service.send({
        method: 'POST',
        path: '/v1/grants',
        key,
        body: { subject, relation, object },
      });
      assert.equal(granted.status, 201, granted.text);
    }
    for (const [subject, authorized] of [
      ['user:ada', true],
      ['user:bob', false],
    ] as const) {
      const body = { subject, relation: 'can_read', object: 'document:d' };
      const answer = await service.send({ method: 'POST', path: '/v1/check', key, body });
      assert.equal((answer.json as { authorized: boolean }).authorized, authorized, answer.text);
    }
    const outside = { subject: 'agent:x', relation: 'viewer', object: 'folder:f' };
    assertProblem(
      await service.send({ method: 'POST', path: '/v1/grants', key, body: outside }),
      400,
      'type-not-allowed',
      service.errorsBase,
    );
  });

  it('are printed from JSON, and what is printed is the same rules', async () => {
    const { key } = await service.createTenant();
    const json = await service.send({ method: 'PUT', path: '/v1/rules', key, body: RULES });
    assert.equal(json.status, 200, json.text);
    const printed = await read(key, TYPE);
    assert.match(printed.text, /^namespace folder\n {2}viewer: user, team#member\n/);
    const preview = await put(key, printed.text, { query: '?dry_run=true' });
    assert.deepEqual((preview.json as { rule_set: unknown }).rule_set, RULES);
    const again = await put(key, printed.text, { headers: { accept: TYPE, 'if-match': printed.headers.etag ?? '' } });
    assert.deepEqual([again.status, again.text], [200, printed.text]);
  });

  it('take a rule in JSON that is a gate itself', async () => {
    const { key } = await service.createTenant();
    const own = { namespace: 'document', name: 'can_read', all_of: ['viewer', 'editor'], but_not: ['guest'] };
    const answer = await service.send({ method: 'PUT', path: '/v1/rules', key, body: { rules: [own] } });
    const [rule] = (answer.json as { rules: readonly unknown[] }).rules;
    const { namespace, name, ...gate } = own;
    assert.deepEqual(rule, { namespace, name, any_of: [gate] });
    assert.match((await read(key, TYPE)).text, /can_read = viewer and editor but not guest\n/);
  });

  it('are refused with every place, and nothing is changed', async () => {
    const { key } = await service.createTenant();
    await put(key, TEXT);
    const wrong = 'namespace doc\n  can_read = viwer or\n  can_edit = editr and owner or admin\n';
    const refused = await put(key, wrong);
    assertProblem(refused, 400, 'invalid-request', service.errorsBase);
    const { detail } = refused.json as { detail: string };
    assert.match(detail, /^Line 2, column 22: .*a name is missing.*\nLine 3, column 30: .*parentheses/);
    for (const [text, type] of [
      ['{"rules": []}', TYPE],
      ['namespace doc', 'application/json'],
      ['', TYPE],
      ['# \u0001', TYPE],
      [`# ${'x'.repeat(RULES_SOURCE_BYTES_MAX)}`, TYPE],
    ] as const) {
      assertProblem(await put(key, text, { type }), 400, 'invalid-request', service.errorsBase);
    }
    const empty = await put(key, '');
    assert.match((empty.json as { detail: string }).detail, /^Line 1, column 1: The text is empty\. .*`# none`/);
    assertProblem(await put(key, TEXT, { type: 'text/plain' }), 415, 'unsupported-media-type', service.errorsBase);
    assertProblem(
      await put(key, TEXT, { type: `${TYPE}; charset=utf-16` }),
      415,
      'unsupported-media-type',
      service.errorsBase,
    );
    const stale = await put(key, TEXT, { headers: { 'if-match': `"${'0'.repeat(32)}"` } });
    assertProblem(stale, 412, 'precondition-failed', service.errorsBase);
    assert.equal((await read(key, TYPE)).text, TEXT);
  });

  it('say in the query what JSON says in the body: that grants outside of types stay', async () => {
    const { key } = await service.createTenant();
    const grant = { subject: 'agent:x', relation: 'viewer', object: 'folder:f' };
    await service.send({ method: 'POST', path: '/v1/grants', key, body: grant });
    assertProblem(await put(key, TEXT), 409, 'grants-outside-types', service.errorsBase);
    assertProblem(await put(key, TEXT, { query: '?outside_types=drop' }), 400, 'invalid-request', service.errorsBase);
    const kept = await put(key, TEXT, { query: '?outside_types=keep' });
    assert.equal(kept.status, 200, kept.text);
    assert.match(String(kept.headers['x-service-warning']), /grants-outside-types/);
  });

  it('are the same through the operator’s door', async () => {
    const { key, tenantId } = await service.createTenant();
    await put(key, TEXT);
    const path = `/operator/v1/tenants/${tenantId}/rules`;
    const operate = (options: { method: string; body?: string; headers: Record<string, string> }) =>
      call(service.consoleUrl, { path, key: service.operatorToken, ...options });
    assert.equal((await operate({ method: 'GET', headers: { accept: TYPE } })).text, TEXT);
    const next = TEXT.replace('# Who may read what.', '# Other words.');
    const set = await operate({ method: 'PUT', body: next, headers: { 'content-type': TYPE, accept: TYPE } });
    assert.deepEqual([set.status, set.text], [200, next]);
    const { versions } = (await read(key, undefined, '/versions')).json as {
      readonly versions: readonly { readonly version: number; readonly added: number; readonly removed: number }[];
    };
    assert.deepEqual(versions.map(({ version, added, removed }) => [version, added, removed])[0], [2, 0, 0]);
  });
});
