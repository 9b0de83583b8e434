// Rules through the public interface and the operator's: what is accepted, revisions and conditions, dry runs.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RULE_SET_BYTES_MAX } from '../../../src/rules/rule-set.ts';
import { type Answer, assertProblem, call } from '../../kit/http-client.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { oneService } from '../support/one-service.ts';

const EMPTY = { rules: [], groups: false, public: [] };
const RULES = {
  rules: [
    { namespace: 'document', name: 'viewer', any_of: ['editor', 'viewer from parent'] },
    { namespace: 'document', name: 'can_read', any_of: ['viewer', 'owner'] },
  ],
  groups: true,
  public: ['user'],
};
const rulesOf = (name: string) => ({ ...EMPTY, rules: [{ namespace: 'document', name, any_of: ['owner'] }] });
const ETAG = /^"[0-9a-f]{32}"$/;
const WEAK_OTHER = 'W/"0123456789abcdef0123456789abcdef"';

const service = await oneService();

describe('rules', () => {
  const get = (key: string, headers: Record<string, string> = {}): Promise<Answer> =>
    service.send({ method: 'GET', path: '/v1/rules', key, headers });
  const put = (key: string, body: unknown, headers: Record<string, string> = {}, query = ''): Promise<Answer> =>
    service.send({ method: 'PUT', path: `/v1/rules${query}`, key, body, headers });
  const etagOf = (answer: Answer): string => {
    assert.match(String(answer.headers.etag), ETAG);
    return String(answer.headers.etag);
  };
  const grant = async (key: string, subject: string, relation: string, object: string): Promise<void> => {
    const body = { subject, relation, object };
    assert.equal((await service.send({ method: 'POST', path: '/v1/grants', key, body })).status, 201);
  };
  const operate = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    call(service.consoleUrl, { method, path: `/operator/v1${path}`, body, headers, key: service.operatorToken });

  it('has an empty rule set with a revision where none was ever set', async () => {
    const { key } = await service.createTenant();
    const answer = await get(key);
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.json, EMPTY);
    assert.equal(answer.headers['cache-control'], 'no-store');
    const other = await get((await service.createTenant()).key);
    assert.equal(etagOf(other), etagOf(answer));
  });

  it('reads what was put, as it was put, with the same revision', async () => {
    const { key } = await service.createTenant();
    const none = etagOf(await get(key));
    const written = await put(key, RULES);
    assert.equal(written.status, 200, written.text);
    assert.deepEqual(written.json, RULES);
    const read = await get(key);
    assert.deepEqual(read.json, RULES);
    assert.equal(etagOf(read), etagOf(written));
    assert.notEqual(etagOf(read), none);
    // White space and absent switches make no other revision.
    const spaced = await put(key, JSON.stringify({ rules: RULES.rules, public: ['user'], groups: true }, undefined, 4));
    assert.equal(etagOf(spaced), etagOf(read));
    const removed = await put(key, { rules: [] });
    assert.deepEqual([removed.json, etagOf(removed)], [EMPTY, none]);
  });

  it('compares If-Match strongly, and changes nothing unless it names the present revision', async () => {
    const { key } = await service.createTenant();
    const none = etagOf(await get(key));
    for (const ifMatch of [WEAK_OTHER, `W/${none}`, '"x"', '""', WEAK_OTHER.slice(2), '"a,b" , "*"']) {
      const refused = await put(key, RULES, { 'if-match': ifMatch });
      assertProblem(refused, 412, 'precondition-failed', service.errorsBase);
    }
    assert.equal(etagOf(await get(key)), none);
    const first = etagOf(await put(key, RULES, { 'if-match': `"x", W/"y",,${none}` }));
    assertProblem(await put(key, EMPTY, { 'if-match': none }), 412, 'precondition-failed', service.errorsBase);
    assert.equal((await put(key, rulesOf('can_edit'), { 'if-match': first })).status, 200);
    assert.equal((await put(key, RULES, { 'if-match': ' * ' })).status, 200);
    assertProblem(await get(key, { 'if-match': none }), 412, 'precondition-failed', service.errorsBase);
    assert.equal((await get(key, { 'if-match': first })).status, 200);
  });

  it('refuses a condition that is malformed, or that it does not know', async () => {
    const { key } = await service.createTenant();
    for (const ifMatch of ['x', '"x', '"x" "y"', 'w/"x"', '*, "x"', ',', '"ü"x']) {
      assertProblem(await put(key, RULES, { 'if-match': ifMatch }), 400, 'invalid-request', service.errorsBase);
    }
    assertProblem(await put(key, RULES, { 'if-none-match': '*' }), 400, 'invalid-request', service.errorsBase);
    assertProblem(await get(key, { 'if-none-match': 'x' }), 400, 'invalid-request', service.errorsBase);
    assert.deepEqual((await get(key)).json, EMPTY);
  });

  it('lets one of several writers win that have seen the same rules', async () => {
    const { key } = await service.createTenant();
    const none = etagOf(await get(key));
    const names = Array.from({ length: 8 }, (_, index) => `name_${index}`);
    const answers = await Promise.all(names.map((name) => put(key, rulesOf(name), { 'if-match': none })));
    const won = answers.filter(({ status }) => status === 200);
    assert.equal(won.length, 1);
    for (const answer of answers) {
      if (answer !== won[0]) assertProblem(answer, 412, 'precondition-failed', service.errorsBase);
    }
    assert.deepEqual((await get(key)).json, won[0]?.json);
  });

  it('answers 304 to a client that has the revision, by a weak comparison', async () => {
    const { key } = await service.createTenant();
    const etag = etagOf(await put(key, RULES));
    for (const ifNoneMatch of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const answer = await get(key, { 'if-none-match': ifNoneMatch });
      assert.deepEqual([answer.status, answer.text, etagOf(answer)], [304, '', etag]);
      assert.ok(answer.headers['x-service-request-id'] !== undefined);
    }
    assert.equal((await get(key, { 'if-none-match': '"x"' })).status, 200);
  });

  it('says where a rule set is wrong, and what to write instead', async () => {
    const { key } = await service.createTenant();
    const rule = { namespace: 'document', name: 'can_read', any_of: ['viewer'] };
    for (const [body, detail] of [
      [[], /The body must be a JSON object with relations, states, conditions, types, rules, groups, public/],
      [{}, /"rules" must be an array, but is missing/],
      [
        { rules: [], extra: 1 },
        /^"extra" is unknown; known here: "relations", "states", "conditions", "types", "rules"/,
      ],
      [{ rules: [{ ...rule, anyOf: [] }] }, /^"rules\[0\]\.anyOf" is unknown; the nearest known name is "any_of"/],
      [{ rules: [{ ...rule, namespace: '1x' }] }, /"rules\[0\]\.namespace" must be a namespace.*it is "1x"/],
      [{ rules: [rule, { ...rule, name: 'can read' }] }, /"rules\[1\]\.name" must be a letter/],
      [{ rules: [{ ...rule, any_of: [] }] }, /"rules\[0\]\.any_of" is empty/],
      [{ rules: [{ ...rule, any_of: ['viewer', 7] }] }, /"rules\[0\]\.any_of\[1\]" must be a name/],
      [{ rules: [{ ...rule, any_of: ['viewer from can_read'] }] }, /after "from" stands a built-in relation/],
      [{ rules: [{ ...rule, any_of: ['can_raed'] }] }, /uses "can_raed": it is neither a built-in relation/],
      [{ rules: [rule, rule] }, /"rules\[1\]" defines "can_read" of "document", as "rules\[0\]" does/],
      [{ rules: [], groups: 'yes' }, /"groups" must be true or false/],
      [{ rules: [], public: ['user:*'] }, /"public\[0\]" must be a namespace/],
    ] as const) {
      assert.match(assertProblem(await put(key, body), 400, 'invalid-request', service.errorsBase), detail);
    }
    const broken = await put(key, '{"rules":');
    assertProblem(broken, 400, 'invalid-request', service.errorsBase);
    assert.deepEqual((await get(key)).json, EMPTY);
  });

  it('takes gates, shows them as they were put, and follows them', async () => {
    const { key } = await service.createTenant();
    const gate = { all_of: ['viewer', { any_of: ['member from parent', 'owner'] }], but_not: ['guest'] };
    const gated = {
      ...EMPTY,
      rules: [
        { namespace: 'document', name: 'can_read', any_of: ['editor', gate] },
        { namespace: 'document', name: 'can_list', any_of: ['all of viewer from parent'] },
      ],
    };
    const preview = await put(key, gated, {}, '?dry_run=true');
    assert.match(preview.text, /"changed":true/);
    assert.ok(preview.text.includes(JSON.stringify(gated)), preview.text);
    assert.deepEqual((await put(key, gated)).json, gated);
    assert.deepEqual((await get(key)).json, gated);
    await grant(key, 'user:ann', 'viewer', 'document:1');
    await grant(key, 'user:ann', 'owner', 'document:1');
    const check = () =>
      service.send({
        method: 'POST',
        path: '/v1/check',
        key,
        body: { subject: 'user:ann', relation: 'can_read', object: 'document:1' },
      });
    assert.match((await check()).text, /"authorized":true/);
    await grant(key, 'user:ann', 'guest', 'document:1');
    assert.match((await check()).text, /"authorized":false/);
  });

  it('names everything that is wrong with gates at once, each with its place', async () => {
    const { key } = await service.createTenant();
    const rules = [
      { namespace: 'document', name: 'can_read', any_of: [{ all_of: ['viewr', { any_of: [] }], but_not: ['gest'] }] },
      { namespace: 'document', name: 'can_edit', any_of: [{ but_not: ['viewer'] }, 'all of viewer'] },
    ];
    const wrong = assertProblem(await put(key, { rules }), 400, 'invalid-request', service.errorsBase);
    assert.deepEqual(
      wrong.split('\n').map((line) => line.slice(0, line.indexOf('"', 1) + 1)),
      ['"rules[0].any_of[0].all_of[1].any_of"', '"rules[1].any_of[0]"', '"rules[1].any_of[1]"'],
    );
    const names = [{ ...rules[0], any_of: [{ all_of: ['viewr'], but_not: ['gest from pairent'] }] }];
    const unknown = assertProblem(await put(key, { rules: names }), 400, 'invalid-request', service.errorsBase);
    for (const line of [
      /^"rules\[0\]\.any_of\[0\]\.all_of\[0\]" uses "viewr".* Did you mean "viewer"\?$/m,
      /^"rules\[0\]\.any_of\[0\]\.but_not\[0\]" uses "gest".* Did you mean "guest"\?$/m,
      /^"rules\[0\]\.any_of\[0\]\.but_not\[0\]" follows "pairent".* Did you mean "parent"\?$/m,
    ]) {
      assert.match(unknown, line);
    }
    assert.deepEqual((await get(key)).json, EMPTY);
  });

  it('refuses a circle through but_not, and names it', async () => {
    const { key } = await service.createTenant();
    const rules = [
      { namespace: 'document', name: 'can_read', any_of: [{ any_of: ['viewer'], but_not: ['is_blocked'] }] },
      { namespace: 'document', name: 'is_blocked', any_of: ['guest', 'can_read'] },
    ];
    const circle = assertProblem(await put(key, { rules }), 400, 'invalid-request', service.errorsBase);
    assert.match(circle, /^"rules\[\d\]" depends on itself through "but not": .*can_read > .*is_blocked/);
  });

  it('names each condition that does not compile, beside what else is wrong', async () => {
    const { key } = await service.createTenant();
    const conditions = [
      { name: 'first', parameters: { n: 'int' }, expression: 'n == "a" ||\n m' },
      { name: 'second', parameters: { at: 'instant' }, expression: 'true' },
      { name: 'third', parameters: {}, expression: '1 +' },
    ];
    const rules = [{ namespace: 'document', name: 'can_read', any_of: ['viewr'] }];
    const wrong = assertProblem(await put(key, { conditions, rules }), 400, 'invalid-request', service.errorsBase);
    for (const line of [
      /^"rules\[0\]\.any_of\[0\]" uses "viewr"/m,
      /^"conditions\[0\]\.expression", line 1, column \d+: /m,
      /^"conditions\[0\]\.expression", line 2, column 2: /m,
      /^"conditions\[1\]\.parameters\.at" has an unknown type/m,
      /^"conditions\[2\]\.expression", line 1, column \d+: /m,
    ]) {
      assert.match(wrong, line);
    }
    assert.deepEqual((await get(key)).json, EMPTY);
    const right = { ...EMPTY, conditions: [{ name: 'even', parameters: { n: 'int' }, expression: 'n % 2 == 0' }] };
    const written = await put(key, right);
    assert.equal(written.status, 200, written.text);
    assert.deepEqual((await get(key)).json, written.json);
  });

  it('refuses a document of 1 MiB', async () => {
    const { key } = await service.createTenant();
    const body = `{"rules":[]${' '.repeat(1024 * 1024)}}`;
    assertProblem(await put(key, body), 413, 'payload-too-large', service.errorsBase);
  });

  it('bounds the number of rules, their size and the body', async () => {
    const { key } = await service.createTenant();
    const many = (count: number, length: number) => ({
      ...EMPTY,
      rules: Array.from({ length: count }, (_, index) => ({
        namespace: 'document',
        name: `n${index}_${'x'.repeat(50)}`,
        any_of: [`viewer`, ...Array.from({ length }, (_, at) => `n${at}_${'x'.repeat(50)} from parent`)],
      })),
    });
    const most = await put(key, many(1000, 0));
    assert.equal(most.status, 200, most.text);
    assert.deepEqual((await get(key)).json, many(1000, 0));
    const over = assertProblem(await put(key, many(1001, 0)), 400, 'invalid-request', service.errorsBase);
    assert.match(over, /"rules" has 1001 elements; at most 1000 are allowed/);
    const long = assertProblem(await put(key, many(1000, 1)), 400, 'invalid-request', service.errorsBase);
    assert.match(long, new RegExp(`at most ${RULE_SET_BYTES_MAX} are allowed`));
    // As long as may be, canonically; white space does not count.
    const full = many(1000, 0);
    const canonical = JSON.stringify(full).length;
    assert.ok(canonical < RULE_SET_BYTES_MAX);
    const spaced = `${' '.repeat(400 * 1024)}${JSON.stringify(full)}`;
    assert.equal((await put(key, spaced)).status, 200);
    assertProblem(await put(key, `${' '.repeat(512 * 1024)}{}`), 413, 'payload-too-large', service.errorsBase);
  });

  it('answers what a change would do, and does not do it', async () => {
    const { key } = await service.createTenant();
    await grant(key, 'team:a#member', 'viewer', 'document:1');
    await grant(key, 'team:a#member', 'editor', 'document:1');
    await grant(key, 'team:b#member', 'viewer', 'document:2');
    await grant(key, 'user:*', 'viewer', 'document:1');
    await grant(key, 'guest:*', 'viewer', 'document:1');
    const none = etagOf(await get(key));
    const tried = await put(key, RULES, { 'if-match': none }, '?dry_run=true');
    assert.equal(tried.status, 200, tried.text);
    const { revision, access, ...rest } = tried.json as Record<string, unknown>;
    assert.deepEqual(rest, {
      rule_set: RULES,
      current_revision: none.slice(1, -1),
      changed: true,
      group_subjects: 2,
      public_grants: 1,
      grants_not_followed: 1,
      grants_outside_types: 0,
      ungranted: [
        { namespace: 'document', relation: 'parent' },
        { namespace: 'document', relation: 'owner' },
      ],
      vanishing: [],
      complete: true,
      scanned_grants: 6,
      scanned_grants_max: 100_000,
    });
    assert.deepEqual((access as { unknown_because: unknown }).unknown_because, ['everyone']);
    assert.equal(etagOf(await get(key)), none);
    assert.equal(etagOf(await put(key, RULES, {}, '?dry_run=false')), `"${revision}"`);
    const again = (await put(key, RULES, {}, '?dry_run=true')).json as Record<string, unknown>;
    assert.deepEqual([again.changed, again.group_subjects, again.public_grants], [false, 0, 0]);
    const removal = (await put(key, EMPTY, {}, '?dry_run=true')).json as Record<string, unknown>;
    assert.deepEqual([removal.changed, removal.group_subjects, removal.public_grants], [true, 2, 1]);
    const refused = await put(key, EMPTY, { 'if-match': none }, '?dry_run=true');
    assertProblem(refused, 412, 'precondition-failed', service.errorsBase);
    for (const query of ['?dry_run=1', '?dry_run', '?dryrun=true', '?dry_run=true&dry_run=true']) {
      assertProblem(await put(key, EMPTY, {}, query), 400, 'invalid-request', service.errorsBase);
    }
    assert.deepEqual((await get(key)).json, RULES);
  });

  it('says when a name that would vanish was last asked about, by whatever request, and of no other tenant', async () => {
    const [{ key }, silent] = [await service.createTenant(), await service.createTenant()];
    const names = ['can_check', 'can_bulk', 'can_evaluate', 'can_list', 'can_hold', 'can_rest'];
    const rules = { ...EMPTY, rules: names.flatMap((name) => rulesOf(name).rules) };
    for (const each of [key, silent.key]) assert.equal((await put(each, rules)).status, 200);
    const subject = 'user:ann';
    const object = 'document:1';
    const post = (path: string, body: object) => ({ method: 'POST', path, key, body });
    const asks = [
      post('/v1/check', { subject, relation: 'can_check', object }),
      post('/v1/check/bulk', { checks: ['viewer', 'can_bulk'].map((relation) => ({ subject, relation, object })) }),
      post('/access/v1/evaluation', {
        ...{ subject: { type: 'user', id: 'ann' }, resource: { type: 'document', id: '1' } },
        action: { name: 'can_evaluate' },
      }),
      { method: 'GET', path: `/v1/objects?subject=${subject}&relation=can_list`, key },
      { method: 'GET', path: `/v1/subjects?object=${object}&relation=can_hold`, key },
    ];
    const sinceMs = Date.now();
    for (const ask of asks) {
      const answer = await service.send(ask);
      assert.equal(answer.status, 200, answer.text);
    }
    const vanishing = async (of: string): Promise<readonly { name: string; asked_at: string | null }[]> => {
      const answer = await put(of, EMPTY, {}, '?dry_run=true');
      return (answer.json as { vanishing: { name: string; asked_at: string | null }[] }).vanishing;
    };
    const askedOf = (items: readonly { name: string; asked_at: string | null }[]) =>
      items.filter(({ asked_at: askedAt }) => askedAt !== null);
    // The process that answers tells the owner of it every few seconds.
    await waitFor('the names', async () => askedOf(await vanishing(key)).length >= asks.length);
    const found = await vanishing(key);
    assert.deepEqual(new Set(askedOf(found).map(({ name }) => name)), new Set(names.slice(0, -1)));
    assert.deepEqual(found.at(-1), { name: 'can_rest', asked_at: null }, 'it comes last');
    for (const { asked_at: askedAt } of askedOf(found)) {
      const atMs = Date.parse(String(askedAt));
      assert.ok(atMs > sinceMs - 60_000 && atMs <= Date.now(), String(askedAt));
    }
    assert.deepEqual(
      await vanishing(silent.key),
      names.map((name) => ({ name, asked_at: null })),
    );
  });

  it('needs the scope admin, and no other', async () => {
    const { tenantId, key } = await service.createTenant();
    const { key: admin } = await service.createKey(tenantId, { scopes: ['admin'] });
    const { key: others } = await service.createKey(tenantId, { scopes: ['check:read', 'grant:write'] });
    assert.equal((await put(admin, RULES)).status, 200);
    for (const answer of [await get(others), await put(others, EMPTY), await put(others, EMPTY, {}, '?dry_run=true')]) {
      assertProblem(answer, 403, 'insufficient-scope', service.errorsBase);
    }
    assertProblem(await get(''), 401, 'unauthorized', service.errorsBase);
    assert.deepEqual((await get(key)).json, RULES);
  });

  it('accepts no other methods, and only JSON', async () => {
    const { key } = await service.createTenant();
    for (const method of ['POST', 'DELETE', 'PATCH']) {
      const answer = await service.send({ method, path: '/v1/rules', key, body: EMPTY });
      assertProblem(answer, 405, 'method-not-allowed', service.errorsBase);
      assert.equal(answer.headers.allow, 'GET, PUT');
    }
    const text = await put(key, '{"rules":[]}', { 'content-type': 'text/plain' });
    assertProblem(text, 415, 'unsupported-media-type', service.errorsBase);
    assertProblem(await put(key, ''), 400, 'invalid-request', service.errorsBase);
    assertProblem(await put(key, RULES, {}, '?x=1'), 400, 'invalid-request', service.errorsBase);
  });

  it('keeps the rules of tenants apart', async () => {
    const [one, two] = [await service.createTenant(), await service.createTenant()];
    assert.equal((await put(one.key, RULES)).status, 200);
    assert.deepEqual((await get(two.key)).json, EMPTY);
    assert.equal((await put(two.key, rulesOf('can_edit'))).status, 200);
    assert.deepEqual((await get(one.key)).json, RULES);
  });

  it('refuses a suspended tenant, and keeps its rules', async () => {
    const { tenantId, key } = await service.createTenant();
    assert.equal((await put(key, RULES)).status, 200);
    await service.setState(tenantId, 'suspended');
    assertProblem(await get(key), 403, 'tenant-suspended', service.errorsBase);
    assertProblem(await put(key, EMPTY), 403, 'tenant-suspended', service.errorsBase);
    await service.setState(tenantId, 'active');
    assert.deepEqual((await get(key)).json, RULES);
  });

  it('has the same rules for the operator, with the same conditions', async () => {
    const { tenantId, key } = await service.createTenant();
    const path = `/tenants/${tenantId}/rules`;
    const read = await operate('GET', path);
    assert.deepEqual([read.status, read.json, etagOf(read)], [200, EMPTY, etagOf(await get(key))]);
    const written = await operate('PUT', path, RULES, { 'if-match': etagOf(read) });
    assert.deepEqual([written.status, written.json], [200, RULES]);
    assert.equal(etagOf(written), etagOf(await get(key)));
    const refused = await operate('PUT', path, EMPTY, { 'if-match': etagOf(read) });
    assert.equal(refused.status, 412);
    const tried = await operate('PUT', `${path}?dry_run=true`, EMPTY);
    assert.deepEqual([tried.status, (tried.json as Record<string, unknown>).changed], [200, true]);
    for (const [query, body] of [
      ['?dry_run=yes', EMPTY],
      ['?x=1', EMPTY],
      ['', { rules: [], extra: true }],
    ] as const) {
      assert.equal((await operate('PUT', `${path}${query}`, body)).status, 400);
    }
    assert.deepEqual((await get(key)).json, RULES);
    assert.equal((await operate('GET', '/tenants/ten_00000000000000000000000000/rules')).status, 404);
  });

  it('tells each change in the audit log, with the rules before it', async () => {
    const { tenantId, key } = await service.createTenant();
    assert.equal((await put(key, RULES)).status, 200);
    assert.equal((await put(key, RULES)).status, 200);
    assert.equal((await operate('PUT', `/tenants/${tenantId}/rules`, EMPTY)).status, 200);
    const answer = await operate('GET', `/tenants/${tenantId}/audit-log?action=rules.updated`);
    const { entries } = answer.json as { entries: { actor: string; change: unknown }[] };
    assert.deepEqual(
      entries.map(({ change }) => change),
      [
        { action: 'rules.updated', rules: RULES, former: EMPTY },
        { action: 'rules.updated', rules: EMPTY, former: RULES },
      ],
    );
    assert.deepEqual(
      entries.map(({ actor }) => actor.replace(/:.*/, '').slice(0, 4)),
      ['key_', 'oper'],
    );
  });
});
