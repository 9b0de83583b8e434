// The sets of a subject (POST /v1/sets), the live half of a list that an application joins with its own data, through
// both interfaces.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Answer, assertProblem } from '../../kit/http-client.ts';
import { oneService } from '../support/one-service.ts';

const RULES = {
  conditions: [{ name: 'office', parameters: { inside: 'bool' }, expression: 'inside' }],
  relations: ['blocked'],
  rules: [
    { namespace: 'document', name: 'can_read', any_of: ['viewer', 'can_read from parent'] },
    { namespace: 'folder', name: 'can_read', any_of: ['viewer', 'can_read from parent'] },
    { namespace: 'space', name: 'can_read', any_of: [{ any_of: ['viewer'], but_not: ['blocked'] }] },
  ],
  groups: true,
  public: ['user'],
};
const JOIN = { namespace: 'document', name: 'can_read' };

interface Sets {
  readonly subjects: readonly string[];
  readonly held: readonly string[];
  readonly perhaps: readonly string[];
  readonly own: string;
  readonly revision: string;
  readonly at: { readonly seq: number; readonly time: string };
  readonly through: number;
}

const service = await oneService();

describe('the sets of a subject', () => {
  const send = (key: string, method: string, path: string, body?: unknown): Promise<Answer> =>
    service.send({ method, path, key, ...(body === undefined ? {} : { body }) });
  const open = async (grants: readonly string[], rules: object = RULES) => {
    const { key } = await service.createTenant();
    const set = await send(key, 'PUT', '/v1/rules', rules);
    assert.equal(set.status, 200, set.text);
    const etag = String(set.headers.etag);
    const grant = async (text: string, more: object = {}) => {
      const [subject, relation, object] = text.split(' ');
      const made = await send(key, 'POST', '/v1/grants', { subject, relation, object, ...more });
      assert.ok(made.status < 300, made.text);
    };
    for (const each of grants) await grant(each);
    const ask = (more: object = {}) => send(key, 'POST', '/v1/sets', { subject: 'user:ada', join: JOIN, ...more });
    const sets = async (more: object = {}): Promise<Sets> => {
      const answer = await ask(more);
      assert.equal(answer.status, 200, answer.text);
      return answer.json as unknown as Sets;
    };
    return { key, etag, grant, ask, sets };
  };

  it('are those that grants name, with the rules and the moment of which they are', async () => {
    const { etag, grant, sets } = await open([
      'user:ada member team:a',
      'team:a#member member team:b',
      'user:ada member team:unnamed',
      'team:b#member viewer document:1',
      'user:ada viewer folder:root',
      'user:ada viewer folder:empty',
      'folder:root parent document:2',
      'user:ada viewer space:open',
      'user:ada viewer space:closed',
      'user:ada blocked space:closed',
      'space:open parent document:3',
      'space:closed parent document:4',
    ]);
    const found = await sets();
    assert.deepEqual(found.subjects, ['user:ada', 'user:*', 'team:a#member', 'team:b#member']);
    assert.deepEqual(found.held, ['folder:root#can_read', 'space:open#can_read']);
    assert.deepEqual([found.perhaps, found.own], [[], 'user:ada#self']);
    assert.equal(`"${found.revision}"`, etag);
    assert.ok(found.through <= found.at.seq);
    assert.match(found.at.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.deepEqual((await sets({ join: { ...JOIN, deep: ['folder'] } })).held, ['space:open#can_read']);
    await grant('folder:empty parent document:5');
    const later = await sets();
    assert.deepEqual(later.held, ['folder:empty#can_read', 'folder:root#can_read', 'space:open#can_read']);
    assert.ok(later.through > found.at.seq && later.through <= later.at.seq, 'that grant is mirrored');
  });

  it('depend on the context and on the grants of the call', async () => {
    const { grant, ask, sets } = await open(['team:a#member viewer document:1', 'team:b#member viewer document:1']);
    await grant('user:ada member team:a', { condition: { name: 'office' } });
    const groups = async (more: object) => (await sets(more)).subjects.slice(2);
    assert.deepEqual(await groups({ context: { inside: true } }), ['team:a#member']);
    assert.deepEqual(await groups({ context: { inside: false } }), []);
    assertProblem(await ask(), 422, 'context-incomplete', service.errorsBase);
    const { subjects, perhaps } = await sets({ perhaps: true });
    assert.deepEqual([subjects.slice(2), perhaps], [[], ['team:a#member']]);
    const added = { subject: 'user:ada', relation: 'member', object: 'team:b' };
    const context = { inside: false };
    assert.deepEqual(await groups({ context, context_grants: [added] }), ['team:b#member']);
    const mirrored = { subject: 'user:ada', relation: 'viewer', object: 'document:9' };
    const refused = await ask({ context, context_grants: [added, mirrored] });
    assert.match(assertProblem(refused, 400, 'invalid-request', service.errorsBase), /"context_grants\[1\]"/);
  });

  it('are refused by the name of what is wrong', async () => {
    const { ask } = await open([]);
    const unknown = await ask({ join: { ...JOIN, name: 'can_raed' } });
    assert.match(assertProblem(unknown, 400, 'invalid-relation', service.errorsBase), /"join\.name".*can_read/);
    for (const join of [undefined, {}, { namespace: 'document' }, { ...JOIN, more: 1 }, { ...JOIN, deep: ['a b'] }]) {
      assertProblem(await ask({ join }), 400, 'invalid-request', service.errorsBase);
    }
    assertProblem(await ask({ perhaps: 'yes' }), 400, 'invalid-request', service.errorsBase);
    assertProblem(await ask({ subject: 'ada' }), 400, 'invalid-subject', service.errorsBase);
  });

  it('are refused where there are too many, with what to do', async () => {
    const { key, ask, sets } = await open([]);
    const name = (index: number): string => `team:${'𝕏'.repeat(245)}${String(index).padStart(4, '0')}`;
    const grants = Array.from({ length: 1100 }, (_, index) => [
      { subject: 'user:ada', relation: 'member', object: name(index) },
      { subject: `${name(index)}#member`, relation: 'viewer', object: 'document:1' },
    ]).flat();
    for (let start = 0; start < grants.length; start += 100) {
      const written = await send(key, 'POST', '/v1/grants/bulk', { grants: grants.slice(start, start + 100) });
      assert.equal(written.status, 200, written.text);
    }
    const detail = assertProblem(await ask(), 422, 'too-many-sets', service.errorsBase);
    assert.match(detail, /1024 KiB.*"deep"/);
    assert.deepEqual((await sets({ subject: 'user:bob' })).subjects, ['user:bob', 'user:*']);
  });
});
