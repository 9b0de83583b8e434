// Checks and listings under rules, through the public interface. Most cases are facts of OpenFGA's own tests
// (support/openfga-union-cases.json names their source; Apache License 2.0): models that need no more than unions,
// groups, "name from relation" and public namespaces.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { isJsonObject, objectsIn } from '../../../src/core/json-members.ts';
import { isRelation, RELATIONS } from '../../../src/core/tuples.ts';
import { type Answer, assertProblem } from '../../kit/http-client.ts';
import { oneService } from '../support/one-service.ts';

type Term = ['this', string[]] | ['rel', string] | ['ttu', string, string];

interface Stage {
  readonly rules: readonly { readonly type: string; readonly relation: string; readonly terms: readonly Term[] }[];
  readonly tuples?: readonly { readonly user: string; readonly relation: string; readonly object: string }[];
  readonly checks?: readonly {
    readonly user: string;
    readonly relation: string;
    readonly object: string;
    readonly expected: boolean;
  }[];
  readonly objects?: readonly {
    readonly user: string;
    readonly type: string;
    readonly relation: string;
    readonly expected: readonly string[];
  }[];
  readonly subjects?: readonly {
    readonly filters: readonly string[];
    readonly object: string;
    readonly relation: string;
    readonly expected: readonly string[];
  }[];
}

const CASES = JSON.parse(readFileSync(new URL('../support/openfga-union-cases.json', import.meta.url), 'utf8')) as {
  readonly tests: readonly { readonly name: string; readonly stages: readonly Stage[] }[];
};

/** Their relations that are granted have names of ours; the others are derived, and keep theirs. */
function namesOf({ rules, tuples = [] }: Stage): (name: string) => string {
  const grantable = rules.filter(({ terms }) => terms.some(([kind]) => kind === 'this'));
  const granted = new Set([...grantable, ...tuples].map(({ relation }) => relation));
  const mapped = new Map([...granted].filter(isRelation).map((name) => [name as string, name as string]));
  for (const name of granted) {
    const free = RELATIONS.find((each) => ![...mapped.values()].includes(each));
    if (!mapped.has(name)) mapped.set(name, free ?? assert.fail(`${granted.size} relations are granted`));
  }
  return (name) => mapped.get(name) ?? (isRelation(name) ? `${name}_derived` : name);
}

function rulesOf({ rules }: Stage, nameOf: (name: string) => string) {
  const kinds = rules.flatMap(({ terms }) => terms.flatMap((term) => (term[0] === 'this' ? term[1] : [])));
  const defined = rules.map(({ type, relation, terms }) => ({
    namespace: type,
    name: nameOf(relation),
    any_of: terms.flatMap((term) =>
      term[0] === 'rel' ? [nameOf(term[1])] : term[0] === 'ttu' ? [`${nameOf(term[1])} from ${nameOf(term[2])}`] : [],
    ),
  }));
  return {
    rules: defined.filter(({ any_of }) => any_of.length > 0),
    groups: true,
    public: [...new Set(kinds.filter((kind) => kind.endsWith(':*')).map((kind) => kind.slice(0, -2)))],
  };
}

const asks = ({ checks = [], objects = [], subjects = [] }: Stage): boolean =>
  checks.length + objects.length + subjects.length > 0;
/** Some ask nothing, and one of those grants more relations than there are here. */
const ASKING = CASES.tests.filter(({ stages }) => stages.some(asks));

const RULES = {
  rules: [
    { namespace: 'folder', name: 'viewer', any_of: ['viewer from parent'] },
    { namespace: 'document', name: 'viewer', any_of: ['editor', 'viewer from parent'] },
    { namespace: 'document', name: 'can_read', any_of: ['viewer', 'owner'] },
  ],
  groups: true,
  public: ['user'],
};

const service = await oneService();

describe('checks and listings under rules', () => {
  const send = async (key: string, method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const answer = await service.send({ method, path, key, body });
    assert.ok(answer.status < 300, `${method} ${path} ${JSON.stringify(body)}: ${answer.text}`);
    return answer.json as Record<string, unknown>;
  };
  const grantAll = async (key: string, grants: readonly string[]): Promise<void> => {
    for (const text of grants) {
      const [subject, relation, object] = text.split(' ');
      await send(key, 'POST', '/v1/grants', { subject, relation, object });
    }
  };
  const ask = (text: string) => {
    const [subject, relation, object] = text.split(' ');
    return { subject, relation, object };
  };
  const check = (key: string, text: string, more: object = {}): Promise<Answer> =>
    service.send({ method: 'POST', path: '/v1/check', key, body: { ...ask(text), ...more } });
  const authorized = async (key: string, text: string): Promise<unknown> =>
    (await send(key, 'POST', '/v1/check', ask(text))).authorized;
  const bulk = (key: string, texts: readonly string[]): Promise<Answer> =>
    service.send({ method: 'POST', path: '/v1/check/bulk', key, body: { checks: texts.map(ask) } });
  const list = async (key: string, what: 'objects' | 'subjects', query: Record<string, string>): Promise<unknown> => {
    const items: unknown[] = [];
    for (let cursor: unknown = ''; cursor !== null; ) {
      const page = new URLSearchParams({ ...query, limit: '2', ...(cursor === '' ? {} : { cursor: String(cursor) }) });
      const read = await send(key, 'GET', `/v1/${what}?${page}`);
      assert.ok(Array.isArray(read[what]));
      items.push(...read[what]);
      cursor = read.next_cursor;
    }
    return items;
  };
  const openTenant = async (grants: readonly string[], rules: object = RULES): Promise<string> => {
    const { key } = await service.createTenant();
    await send(key, 'PUT', '/v1/rules', rules);
    await grantAll(key, grants);
    return key;
  };

  /** A denial has a reason; with the grants that it says are missing, if it says nothing else, the check is allowed. */
  const assertReason = async (key: string, question: object, explained: Record<string, unknown>): Promise<void> => {
    const { authorized, reason } = explained;
    if (authorized === true) return assert.equal(reason, undefined);
    assert.ok(isJsonObject(reason) && typeof reason.text === 'string');
    const { excluded_by: excludedBy, unmet, missing } = reason;
    if (objectsIn(missing).length === 0 || objectsIn(excludedBy).length + objectsIn(unmet).length > 0) return;
    const mended = await send(key, 'POST', '/v1/check', { ...question, context_grants: missing });
    assert.equal(mended.authorized, true, JSON.stringify(reason));
  };

  for (const { name, stages } of ASKING) {
    it(`answers as OpenFGA does: ${name}`, async () => {
      const { key } = await service.createTenant();
      const stored = new Map<string, Record<string, string>>();
      for (const stage of stages) {
        const nameOf = namesOf(stage);
        const subjectOf = (user: string): string => {
          const hash = user.lastIndexOf('#');
          return hash < 0 ? user : `${user.slice(0, hash)}#${nameOf(user.slice(hash + 1))}`;
        };
        await send(key, 'PUT', '/v1/rules', rulesOf(stage, nameOf));
        for (const { user, relation, object } of stage.tuples ?? []) {
          const grant = { subject: subjectOf(user), relation: nameOf(relation), object };
          stored.set(JSON.stringify(grant), grant);
          await send(key, 'POST', '/v1/grants', grant);
        }
        const checks = (stage.checks ?? []).map(({ user, relation, object, expected }) => ({
          question: { subject: subjectOf(user), relation: nameOf(relation), object },
          expected,
        }));
        for (const { question, expected } of checks) {
          const what = JSON.stringify(question);
          assert.equal((await send(key, 'POST', '/v1/check', question)).authorized, expected, what);
          const explained = await send(key, 'POST', '/v1/check', { ...question, explain: true });
          assert.equal(explained.authorized, expected, what);
          const { because } = explained;
          assert.equal(Array.isArray(because), expected, what);
          await assertReason(key, question, explained);
          for (const { subject, relation, object } of Array.isArray(because) ? because : []) {
            assert.ok(stored.has(JSON.stringify({ subject, relation, object })), what);
          }
        }
        if (checks.length > 0) {
          const { results } = await send(key, 'POST', '/v1/check/bulk', {
            checks: checks.map(({ question }) => question),
          });
          assert.deepEqual(
            (results as { authorized: boolean }[]).map((each) => each.authorized),
            checks.map(({ expected }) => expected),
          );
        }
        for (const { user, type, relation, expected } of stage.objects ?? []) {
          const query = { subject: subjectOf(user), relation: nameOf(relation), namespace: type };
          assert.deepEqual(await list(key, 'objects', query), expected.toSorted(), JSON.stringify(query));
        }
        for (const { filters, object, relation, expected } of stage.subjects ?? []) {
          const [filter = ''] = filters;
          const [namespace = '', group] = filter.split('#');
          const query = { object, relation: nameOf(relation), namespace, include: 'self' };
          const listed = (await list(key, 'subjects', query)) as string[];
          const those = listed.filter((each) =>
            group === undefined ? !each.includes('#') : each.endsWith(`#${nameOf(group)}`),
          );
          assert.deepEqual(those, expected.map(subjectOf).sort(), JSON.stringify(query));
        }
      }
    });
  }

  it('has all cases of them', () => {
    const stages = ASKING.flatMap((each) => each.stages);
    const count = (of: 'checks' | 'objects' | 'subjects') =>
      stages.reduce((sum, stage) => sum + (stage[of]?.length ?? 0), 0);
    assert.deepEqual([ASKING.length, count('checks'), count('objects'), count('subjects')], [36, 82, 52, 75]);
  });

  it('checks and lists a derived name, and grants none', async () => {
    const key = await openTenant(['user:ada owner document:1', 'user:bob editor document:2']);
    assert.equal(await authorized(key, 'user:ada can_read document:1'), true);
    assert.equal(await authorized(key, 'user:bob can_read document:1'), false);
    // A rule of another namespace says nothing about a folder.
    assert.equal(await authorized(key, 'user:ada can_read folder:1'), false);
    assert.deepEqual(await list(key, 'objects', { subject: 'user:bob', relation: 'can_read' }), ['document:2']);
    const who = { object: 'document:2', relation: 'can_read', namespace: 'user' };
    assert.deepEqual(await list(key, 'subjects', who), ['user:bob']);
    const tuple = ask('user:ada can_read document:9');
    for (const [method, path, body, place] of [
      ['POST', '/v1/grants', tuple, '"relation"'],
      ['DELETE', '/v1/grants', tuple, '"relation"'],
      ['POST', '/v1/grants/bulk', { grants: [tuple] }, '"grants[0].relation"'],
      ['POST', '/v1/grants/bulk', { revocations: [tuple] }, '"revocations[0].relation"'],
      ['POST', '/v1/grants/revoke', { subject: 'user:ada', relation: 'can_read' }, '"relation"'],
      ['GET', '/v1/grants?object=document:1&relation=can_read', undefined, '"relation"'],
    ] as const) {
      const refused = await service.send({ method, path, key, body });
      const detail = assertProblem(refused, 400, 'invalid-relation', service.errorsBase);
      assert.ok(detail.startsWith(`${place} must be one of `), detail);
    }
    assert.equal(await authorized(key, 'user:ada can_read document:9'), false);
  });

  it('refuses a name that no rule defines, says where it stands, and names those that there are', async () => {
    const key = await openTenant(['user:ada owner document:1']);
    const hint =
      /relation" must be one of the names that the tenant has; "can_raed" is none of them\. Did you mean "can_read"\? Names on document: [^.]*can_read[^.]*\. Others: [^.]*admin[^.]*\.$/;
    const checks = [1, 2, 3].map((each) => `user:ada can_read document:${each}`);
    const several = assertProblem(
      await bulk(key, [...checks, 'user:ada can_raed document:1', ...checks]),
      400,
      'invalid-relation',
      service.errorsBase,
    );
    assert.match(several, /^"checks\[3\]\.relation" must be one of /);
    assert.match(several, hint);
    const list = (path: string) => service.send({ method: 'GET', path, key });
    for (const answer of [
      await check(key, 'user:ada can_raed document:1'),
      await check(key, 'user:ada can_raed document:1', { explain: true }),
      await check(key, 'user:ada can_raed document:1', { context_grants: [ask('user:ada viewer document:2')] }),
      await list('/v1/objects?subject=user:ada&relation=can_raed&namespace=document'),
      await list('/v1/subjects?object=document:1&relation=can_raed'),
    ]) {
      assert.match(assertProblem(answer, 400, 'invalid-relation', service.errorsBase), hint);
    }
    const anywhere = await list('/v1/objects?subject=user:ada&relation=can_raed');
    const names = assertProblem(anywhere, 400, 'invalid-relation', service.errorsBase);
    assert.match(names, /Did you mean "can_read"\? The names are [^.]*owner[^.]*can_read[^.]*\.$/);
    const grant = { ...ask('user:ada viewer document:2'), relation: 'viewr' };
    const granted = await check(key, 'user:ada can_read document:1', { context_grants: [grant] });
    const misnamed = assertProblem(granted, 400, 'invalid-relation', service.errorsBase);
    assert.match(misnamed, /"context_grants\[0\]\.relation".* must be one of owner, .*; did you mean "viewer"\?$/);
    for (const path of [
      '/v1/objects?subject=user:ada&relation=can_read&via=direct',
      '/v1/subjects?object=document:1&relation=can_read&via=direct',
    ]) {
      const detail = assertProblem(await list(path), 400, 'invalid-relation', service.errorsBase);
      assert.match(detail, /^"relation" must be one of .*names that rules define .* cannot be granted\.$/, path);
    }
  });

  it('names a shortest chain of grants, if asked and only if authorized', async () => {
    const chain = ['user:ada member team:1', 'team:1#member viewer folder:1', 'folder:1 parent document:1'];
    const longer = ['user:ada member team:2', 'team:2#member member team:3', 'team:3#member viewer folder:1'];
    const key = await openTenant([...longer, ...chain]);
    const plain = (await check(key, 'user:ada can_read document:1')).json as Record<string, unknown>;
    assert.deepEqual(Object.keys(plain), ['authorized', 'checked_at']);
    const answer = await check(key, 'user:ada can_read document:1', { explain: true });
    const { because, ...rest } = answer.json as Record<string, unknown>;
    assert.deepEqual(Object.keys(rest), ['authorized', 'checked_at']);
    assert.ok(Array.isArray(because));
    for (const [index, record] of because.entries()) {
      const { subject, relation, object } = record;
      assert.equal(`${subject} ${relation} ${object}`, chain[index]);
      const stored = await send(key, 'GET', `/v1/grants?subject=${encodeURIComponent(subject)}&relation=${relation}`);
      assert.ok((stored.grants as { grant_id: string }[]).some((each) => each.grant_id === record.grant_id));
      assert.deepEqual(
        (stored.grants as { grant_id: string }[]).find((each) => each.grant_id === record.grant_id),
        record,
      );
    }
    assert.equal(because.length, chain.length);
    const denied = (await check(key, 'user:bob can_read document:1', { explain: true })).json as object;
    assert.deepEqual(Object.keys(denied), ['authorized', 'checked_at', 'reason']);
    const unasked = (await check(key, 'user:ada can_read document:1', { explain: false })).json as object;
    assert.deepEqual(Object.keys(unasked), ['authorized', 'checked_at']);
    // A group has its own name without a grant.
    const own = (await check(key, 'team:1#member member team:1', { explain: true })).json as Record<string, unknown>;
    assert.deepEqual([own.authorized, own.because], [true, []]);
  });

  it('lists what follows, or with via=direct what is granted', async () => {
    const key = await openTenant([
      'user:ada member team:1',
      'team:1#member viewer folder:1',
      'folder:1 parent document:1',
      'user:ada viewer document:2',
    ]);
    const objects = { subject: 'user:ada', relation: 'viewer', namespace: 'document' };
    assert.deepEqual(await list(key, 'objects', objects), ['document:1', 'document:2']);
    assert.deepEqual(await list(key, 'objects', { ...objects, via: 'direct' }), ['document:2']);
    const subjects = { object: 'document:1', relation: 'viewer', namespace: 'user' };
    assert.deepEqual(await list(key, 'subjects', subjects), ['user:ada']);
    assert.deepEqual(await list(key, 'subjects', { ...subjects, via: 'direct' }), []);
  });

  it('follows a grant to everybody of a public namespace, and lists it as itself', async () => {
    const key = await openTenant(['user:* viewer document:1', 'robot:* viewer document:1']);
    assert.equal(await authorized(key, 'user:anybody can_read document:1'), true);
    assert.equal(await authorized(key, 'robot:7 can_read document:1'), false);
    assert.equal(await authorized(key, 'robot:* can_read document:1'), true);
    assert.equal(await authorized(key, 'user:1#member can_read document:1'), false);
    const subjects = { object: 'document:1', relation: 'can_read', namespace: 'user' };
    assert.deepEqual(await list(key, 'subjects', subjects), ['user:*']);
    assert.deepEqual(await list(key, 'objects', { subject: 'user:b', relation: 'viewer' }), ['document:1']);
    assert.deepEqual(await list(key, 'objects', { subject: 'robot:7', relation: 'viewer' }), []);
  });

  it('takes groups and stars as plain text until a switch says otherwise', async () => {
    const grants = ['user:ada member team:1', 'team:1#member viewer document:1', 'user:* viewer document:1'];
    const key = await openTenant(grants, { rules: RULES.rules });
    const question = 'user:ada can_read document:1';
    assert.equal(await authorized(key, question), false);
    assert.equal(await authorized(key, 'team:1#member can_read document:1'), true);
    assert.equal(await authorized(key, 'team:1#member member team:1'), false);
    assert.deepEqual(await list(key, 'subjects', { object: 'document:1', relation: 'can_read' }), [
      'team:1#member',
      'user:*',
    ]);
    await send(key, 'PUT', '/v1/rules', { ...RULES, public: [] });
    assert.equal(await authorized(key, question), true);
    await send(key, 'DELETE', '/v1/grants', ask('user:ada member team:1'));
    assert.equal(await authorized(key, question), false);
    await send(key, 'PUT', '/v1/rules', { ...RULES, groups: false });
    assert.equal(await authorized(key, question), true);
    await send(key, 'PUT', '/v1/rules', { rules: [] });
    assert.equal(await authorized(key, 'user:ada viewer document:1'), false);
    assertProblem(await check(key, question), 400, 'invalid-relation', service.errorsBase);
  });

  it('refuses what exceeds a bound, and names the bound', async () => {
    const groups = Array.from({ length: 26 }, (_, index) => `team:${index}#member member team:${index + 1}`);
    const key = await openTenant(['user:ada member team:0', ...groups, 'team:25#member viewer document:1']);
    await grantAll(key, ['team:24#member viewer document:2']);
    assert.equal(await authorized(key, 'user:ada can_read document:2'), true);
    const refusals = [
      await check(key, 'user:ada can_read document:1'),
      await check(key, 'user:ada can_read document:1', { explain: true }),
      await bulk(key, ['user:ada can_read document:2', 'user:ada can_read document:1']),
      await service.send({ method: 'GET', path: '/v1/objects?subject=user:ada&relation=can_read', key }),
      await service.send({ method: 'GET', path: '/v1/subjects?object=document:1&relation=can_read', key }),
    ];
    for (const answer of refusals) {
      const detail = assertProblem(answer, 422, 'evaluation-too-large', service.errorsBase);
      assert.match(detail, /at most 25 groups and parents/);
    }
    assert.equal(await authorized(key, 'user:bob can_read document:1'), false);
  });

  it('leaves a tenant without rules as it was', async () => {
    const { key } = await service.createTenant();
    await grantAll(key, ['user:ada member team:1', 'team:1#member viewer document:1', 'user:* editor document:1']);
    assert.equal(await authorized(key, 'user:ada viewer document:1'), false);
    assert.equal(await authorized(key, 'user:ada editor document:1'), false);
    assert.equal(await authorized(key, 'user:* editor document:1'), true);
    assert.equal(await authorized(key, 'team:1#member viewer document:1'), true);
    assert.equal(await authorized(key, 'team:1#member member team:1'), false);
    assert.deepEqual(await list(key, 'subjects', { object: 'document:1', relation: 'viewer' }), ['team:1#member']);
    assert.deepEqual(await list(key, 'objects', { subject: 'user:ada', relation: 'viewer' }), []);
    const answer = await check(key, 'user:ada viewer document:1');
    assert.match(answer.text, /^\{"authorized":false,"checked_at":"[^"]+"\}$/);
    const explained = (await check(key, 'user:ada member team:1', { explain: true })).json as Record<string, unknown>;
    assert.equal((explained.because as unknown[]).length, 1);
    const unknown = await bulk(key, ['user:ada viewer document:1', 'user:ada can_read document:1']);
    const detail = assertProblem(unknown, 400, 'invalid-relation', service.errorsBase);
    assert.match(
      detail,
      /^"checks\[1\]\.relation" must be one of .*"can_read" is none of them\. The names are owner, admin, /,
    );
  });

  it('follows rules as soon as they are acknowledged, and keeps those of tenants apart', async () => {
    const key = await openTenant(['user:ada editor document:1']);
    const other = await openTenant(['user:ada editor document:1'], { rules: [] });
    for (let round = 0; round < 5; round += 1) {
      await send(key, 'PUT', '/v1/rules', { rules: [] });
      assert.equal(await authorized(key, 'user:ada viewer document:1'), false);
      await send(key, 'PUT', '/v1/rules', RULES);
      assert.equal(await authorized(key, 'user:ada viewer document:1'), true);
      assert.equal(await authorized(other, 'user:ada viewer document:1'), false);
    }
  });
});
