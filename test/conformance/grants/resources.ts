// Grants, checks, objects and namespaces as the specification's sections 2, 3 and 4 describe them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RELATIONS } from '../../../src/core/tuples.ts';
import { type Answer, assertCommonHeaders, assertProblem } from '../../kit/http-client.ts';
import { oneService } from '../support/one-service.ts';

const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const TUPLE = { subject: 'user:ada', relation: 'viewer', object: 'document:plan' };

function recordOf(answer: Answer): Record<string, unknown> {
  assert.equal(answer.headers['content-type'], 'application/json');
  assertCommonHeaders(answer);
  assert.ok(typeof answer.json === 'object' && answer.json !== null);
  return answer.json as Record<string, unknown>;
}

const service = await oneService();

describe('the resources', () => {
  const post = (key: string, path: string, body: unknown): Promise<Answer> =>
    service.send({ method: 'POST', path, body, key });
  const revoke = (key: string, body: unknown): Promise<Answer> =>
    service.send({ method: 'DELETE', path: '/v1/grants', body, key });
  const get = (key: string, path: string): Promise<Answer> => service.send({ method: 'GET', path, key });
  const isAuthorized = async (key: string, tuple: unknown): Promise<unknown> => {
    const answer = await post(key, '/v1/check', tuple);
    assert.equal(answer.status, 200, answer.text);
    const { authorized, checked_at, ...rest } = recordOf(answer);
    assert.deepEqual(rest, {});
    assert.match(String(checked_at), TIMESTAMP);
    return authorized;
  };

  describe('a page of grants', () => {
    it('has a cursor of the change feed, and no other response has one', async () => {
      const { key } = await service.createTenant();
      const created = await post(key, '/v1/grants', TUPLE);
      assert.equal(created.headers['x-service-cursor'], undefined);
      const listed = await get(key, `/v1/grants?subject=${TUPLE.subject}`);
      assert.match(String(listed.headers['x-service-cursor']), /^[A-Za-z0-9_-]{20,200}$/);
    });
  });

  describe('a grant', () => {
    it('absent → POST → present: 201 with the record', async () => {
      const { key } = await service.createTenant();
      assert.equal(await isAuthorized(key, TUPLE), false);
      const created = await post(key, '/v1/grants', TUPLE);
      assert.equal(created.status, 201);
      const { grant_id, created_at, ...rest } = recordOf(created);
      assert.match(String(grant_id), /^grt_[0-9a-hjkmnp-tv-z]{26}$/);
      assert.match(String(created_at), TIMESTAMP);
      assert.deepEqual(rest, { ...TUPLE, expires_at: null });
      assert.equal(await isAuthorized(key, TUPLE), true);
    });

    it('present → POST → present: 200 with the same record', async () => {
      const { key } = await service.createTenant();
      const created = await post(key, '/v1/grants', TUPLE);
      const again = await post(key, '/v1/grants', TUPLE);
      assert.equal(again.status, 200);
      assert.deepEqual(recordOf(again), recordOf(created));
    });

    it('present → DELETE → absent: 204 and nothing else', async () => {
      const { key } = await service.createTenant();
      await post(key, '/v1/grants', TUPLE);
      await post(key, '/v1/grants', { ...TUPLE, relation: 'editor' });
      const revoked = await revoke(key, TUPLE);
      assert.equal(revoked.status, 204);
      assert.equal(revoked.text, '');
      assertCommonHeaders(revoked);
      assert.equal(await isAuthorized(key, TUPLE), false);
      assert.equal(await isAuthorized(key, { ...TUPLE, relation: 'editor' }), true, 'other relations stay');
    });

    it('absent → DELETE → absent: 404', async () => {
      const { key } = await service.createTenant();
      assertProblem(await revoke(key, TUPLE), 404, 'grant-not-found', service.errorsBase);
      await post(key, '/v1/grants', TUPLE);
      await revoke(key, TUPLE);
      assertProblem(await revoke(key, TUPLE), 404, 'grant-not-found', service.errorsBase);
    });

    it('made again after its revocation has a new id', async () => {
      const { key } = await service.createTenant();
      const first = recordOf(await post(key, '/v1/grants', TUPLE));
      await revoke(key, TUPLE);
      const second = await post(key, '/v1/grants', TUPLE);
      assert.equal(second.status, 201);
      assert.notEqual(recordOf(second).grant_id, first.grant_id);
    });

    it('holds for each built-in relation by itself: none implies another', async () => {
      const { key } = await service.createTenant();
      for (const relation of RELATIONS) {
        const tuple = { ...TUPLE, subject: `user:${relation}`, relation };
        assert.equal((await post(key, '/v1/grants', tuple)).status, 201);
        const checks = RELATIONS.map((each) => ({ ...tuple, relation: each }));
        const bulk = recordOf(await post(key, '/v1/check/bulk', { checks }));
        assert.deepEqual(
          bulk.results,
          RELATIONS.map((each) => ({ authorized: each === relation })),
        );
      }
    });

    const texts: [string, string][] = [
      ['further colons', 'user:a:b:c'],
      ['a star, which is no wildcard', 'user:*'],
      ['slashes and dots', 'user:../../etc'],
      ['256 code points outside the first plane', `user:${'😀'.repeat(256)}`],
      ['the longest namespace', `n${'x'.repeat(63)}:1`],
      ['a letter that composes', 'user:e\u0301'],
      ['capital letters', 'User:ADA'],
      ['names of object properties', 'constructor:__proto__'],
      ['what looks like markup', 'user:<script>"&amp;'],
    ];
    for (const [what, identifier] of texts) {
      it(`takes ${what} as it stands, as subject and as object`, async () => {
        const { key } = await service.createTenant();
        const tuple = { subject: identifier, relation: 'member', object: identifier };
        const created = await post(key, '/v1/grants', tuple);
        assert.equal(created.status, 201, created.text);
        assert.equal(recordOf(created).subject, identifier);
        assert.equal(await isAuthorized(key, tuple), true);
        assert.equal(await isAuthorized(key, { ...tuple, subject: 'user:other' }), false);
        const query = new URLSearchParams({ subject: identifier, relation: 'member' });
        assert.deepEqual(recordOf(await get(key, `/v1/objects?${query}`)).objects, [identifier]);
        const reverse = new URLSearchParams({ object: identifier, relation: 'member' });
        assert.deepEqual(recordOf(await get(key, `/v1/subjects?${reverse}`)).subjects, [identifier]);
        for (const side of ['subject', 'object']) {
          const { grants } = recordOf(await get(key, `/v1/grants?${new URLSearchParams({ [side]: identifier })}`));
          assert.deepEqual(grants, [recordOf(created)]);
        }
      });
    }

    it('is compared byte for byte: no folding of case, no normalisation', async () => {
      const { key } = await service.createTenant();
      await post(key, '/v1/grants', { ...TUPLE, subject: 'user:\u00e9' });
      for (const subject of ['user:e\u0301', 'user:\u00c9', 'User:\u00e9']) {
        assert.equal(await isAuthorized(key, { ...TUPLE, subject }), false);
      }
    });
  });

  describe('a bulk check', () => {
    it('answers one result per check, in order, at one moment', async () => {
      const { key } = await service.createTenant();
      await post(key, '/v1/grants', TUPLE);
      const checks = Array.from({ length: 100 }, (_, index) =>
        index % 3 === 0 ? TUPLE : { ...TUPLE, object: `d:${index}` },
      );
      const answer = await post(key, '/v1/check/bulk', { checks });
      assert.equal(answer.status, 200);
      const { results, checked_at, ...rest } = recordOf(answer);
      assert.deepEqual(
        results,
        checks.map((check) => ({ authorized: check === TUPLE })),
      );
      assert.match(String(checked_at), TIMESTAMP);
      assert.deepEqual(rest, {});
    });

    it('of nothing answers nothing', async () => {
      const { key } = await service.createTenant();
      const { results, checked_at } = recordOf(await post(key, '/v1/check/bulk', { checks: [] }));
      assert.deepEqual(results, []);
      assert.match(String(checked_at), TIMESTAMP);
    });

    it('takes 100 of the longest tuples, escaped or not', async () => {
      const { key } = await service.createTenant();
      const identifier = `${'n'.repeat(64)}:${'😀'.repeat(256)}`;
      const checks = Array.from({ length: 100 }, () => ({
        subject: identifier,
        relation: 'commenter',
        object: identifier,
      }));
      const plain = JSON.stringify({ checks });
      const escaped = plain.replaceAll(/[\ud800-\udfff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
      assert.ok(escaped.length > 600_000);
      for (const body of [plain, escaped]) assert.equal((await post(key, '/v1/check/bulk', body)).status, 200);
    });
  });

  describe('a bulk write', () => {
    const bulk = (key: string, body: unknown): Promise<Answer> => post(key, '/v1/grants/bulk', body);
    const other = { ...TUPLE, relation: 'editor' };

    it('creates and revokes at one moment, and says in order what each change has done', async () => {
      const { key } = await service.createTenant();
      const present = recordOf(await post(key, '/v1/grants', TUPLE));
      const answer = await bulk(key, { grants: [other, TUPLE], revocations: [{ ...TUPLE, relation: 'owner' }] });
      assert.equal(answer.status, 200);
      const { grants, revocations, ...rest } = recordOf(answer);
      assert.deepEqual(rest, {});
      assert.deepEqual(revocations, [{ revoked: false }]);
      assert.ok(Array.isArray(grants));
      assert.deepEqual(grants[1], { ...present, created: false });
      const { grant_id, created_at, ...created } = grants[0];
      assert.match(String(grant_id), /^grt_[0-9a-hjkmnp-tv-z]{26}$/);
      assert.match(String(created_at), TIMESTAMP);
      assert.deepEqual(created, { ...other, expires_at: null, created: true });
      const again = recordOf(await bulk(key, { grants: [other], revocations: [TUPLE] }));
      assert.deepEqual(again, {
        grants: [{ grant_id, created_at, ...other, expires_at: null, created: false }],
        revocations: [{ revoked: true }],
      });
      assert.deepEqual([await isAuthorized(key, TUPLE), await isAuthorized(key, other)], [false, true]);
    });

    it('is refused with 412 unless all its conditions are met by the state before it', async () => {
      const { key } = await service.createTenant();
      await post(key, '/v1/grants', TUPLE);
      const swap = {
        grants: [other],
        revocations: [TUPLE],
        if: [
          { ...TUPLE, exists: true },
          { ...other, exists: false },
        ],
      };
      assert.equal((await bulk(key, swap)).status, 200);
      const again = await bulk(key, swap);
      const detail = assertProblem(again, 412, 'precondition-failed', service.errorsBase);
      assert.match(detail, /^"if\[0\]" is not met: the grant user:ada viewer document:plan must exist, but does not\./);
      assert.deepEqual([await isAuthorized(key, TUPLE), await isAuthorized(key, other)], [false, true]);
    });

    it('of two that exclude each other lets one through', async () => {
      const { key } = await service.createTenant();
      const claims = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          bulk(key, {
            grants: [
              { ...TUPLE, subject: `user:${index}` },
              { ...TUPLE, relation: 'owner' },
            ],
            if: [{ ...TUPLE, relation: 'owner', exists: false }],
          }),
        ),
      );
      assert.deepEqual(claims.map(({ status }) => status).sort(), [200, ...Array.from({ length: 19 }, () => 412)]);
    });

    it('takes 100 changes and 100 conditions of the longest tuples, escaped or not', async () => {
      const { key } = await service.createTenant();
      const subject = `${'n'.repeat(64)}:${'😀'.repeat(256)}`;
      const grants = Array.from({ length: 100 }, (_, index) => ({ ...TUPLE, subject, object: `d:${index}` }));
      const conditions = grants.map((tuple) => ({ ...tuple, object: subject, exists: false }));
      const plain = JSON.stringify({ grants, if: conditions });
      const escaped = plain.replaceAll(/[\ud800-\udfff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
      assert.ok(escaped.length > 900_000);
      for (const body of [plain, escaped]) assert.equal((await bulk(key, body)).status, 200);
    });

    it('is stored whole or not at all where the plan has no place for it', async () => {
      const { key } = await service.createTenant();
      const grants = Array.from({ length: 100 }, (_, index) => ({ ...TUPLE, object: `document${index}:plan` }));
      for (let call = 0; call < 9; call += 1) {
        const part = grants.map((tuple) => ({ ...tuple, object: `a${call}${tuple.object}` }));
        assert.equal((await bulk(key, { grants: part })).status, 200);
      }
      // 900 namespaces of documents and the one of the user: 100 more are too many, 99 are not.
      assertProblem(await bulk(key, { grants }), 403, 'namespace-limit-reached', service.errorsBase);
      assert.equal(await isAuthorized(key, grants[0]), false);
      assert.equal((await bulk(key, { grants: grants.slice(1) })).status, 200);
    });
  });

  describe('a revocation by filter', () => {
    it('revokes what a subject holds, or what is granted on an object, of one relation where it is named', async () => {
      const { key } = await service.createTenant();
      const tuples = ['viewer', 'editor'].flatMap((relation) =>
        ['user:ada', 'user:bob'].map((subject) => ({ subject, relation, object: 'document:plan' })),
      );
      await post(key, '/v1/grants/bulk', { grants: [...tuples, { ...TUPLE, object: 'document:other' }] });
      const revokeAll = async (body: unknown) => recordOf(await post(key, '/v1/grants/revoke', body));
      const editors = { object: 'document:plan', relation: 'editor' };
      assert.deepEqual(await revokeAll(editors), { revoked: 2, complete: true });
      assert.deepEqual(await revokeAll(editors), { revoked: 0, complete: true });
      assert.equal(await isAuthorized(key, TUPLE), true);
      assert.deepEqual(await revokeAll({ subject: 'user:ada' }), { revoked: 2, complete: true });
      assert.equal(await isAuthorized(key, TUPLE), false);
      assert.deepEqual(await revokeAll({ object: 'document:plan' }), { revoked: 1, complete: true });
      assert.deepEqual(recordOf(await get(key, '/v1/grants?object=document:plan')), { grants: [], next_cursor: null });
    });

    it('says with dry_run what it would do, changes nothing, and needs the same scope', async () => {
      const { key } = await service.createTenant();
      const path = '/v1/grants/revoke?dry_run=true';
      const filter = { subject: TUPLE.subject };
      await post(key, '/v1/grants/bulk', { grants: [TUPLE, { ...TUPLE, object: 'document:other' }] });
      assert.deepEqual(recordOf(await post(key, path, filter)), { revoked: 2, complete: true });
      assert.deepEqual(recordOf(await post(key, path, { ...filter, relation: 'owner' })), {
        revoked: 0,
        complete: true,
      });
      assert.equal(await isAuthorized(key, TUPLE), true);
      assertProblem(await post(key, path, {}), 400, 'invalid-request', service.errorsBase);
      for (const query of ['dry_run=yes', 'dry_run', 'dry_run=true&dry_run=true', 'dryrun=true']) {
        const refused = await post(key, `/v1/grants/revoke?${query}`, filter);
        assertProblem(refused, 400, 'invalid-request', service.errorsBase);
      }
      assert.equal(await isAuthorized(key, TUPLE), true);
      const { key: reader } = recordOf(await post(key, '/v1/keys', { scopes: ['check:read'] }));
      const { key: writer } = recordOf(await post(key, '/v1/keys', { scopes: ['grant:write'] }));
      assertProblem(await post(String(reader), path, filter), 403, 'insufficient-scope', service.errorsBase);
      assert.deepEqual(recordOf(await post(String(writer), path, filter)), { revoked: 2, complete: true });
      assert.deepEqual(recordOf(await post(key, '/v1/grants/revoke', filter)), { revoked: 2, complete: true });
    });

    it('takes several calls for more than 1,000, each of which says so', async () => {
      const { key } = await service.createTenant();
      for (let call = 0; call < 21; call += 1) {
        const grants = Array.from({ length: 100 }, (_, index) => ({
          ...TUPLE,
          object: `document:${call * 100 + index}`,
        }));
        assert.equal((await post(key, '/v1/grants/bulk', { grants })).status, 200);
      }
      const body = { subject: TUPLE.subject };
      const answers: unknown[] = [];
      for (let call = 0; call < 3; call += 1) answers.push(recordOf(await post(key, '/v1/grants/revoke', body)));
      assert.deepEqual(answers, [
        { revoked: 1000, complete: false },
        { revoked: 1000, complete: false },
        { revoked: 100, complete: true },
      ]);
    });
  });

  describe('DELETE by query', () => {
    it('means the same as with a body: 204, then 404', async () => {
      const { key } = await service.createTenant();
      const tuple = { ...TUPLE, object: 'document:a+b&c=dé' };
      await post(key, '/v1/grants', tuple);
      const path = `/v1/grants?${new URLSearchParams(tuple)}`;
      const answer = await service.send({ method: 'DELETE', path, key });
      assert.deepEqual([answer.status, answer.text], [204, '']);
      assertCommonHeaders(answer);
      assert.equal(await isAuthorized(key, tuple), false);
      assertProblem(await service.send({ method: 'DELETE', path, key }), 404, 'grant-not-found', service.errorsBase);
    });
  });

  describe('the grants of a subject, and on an object', () => {
    it('come by relation and the other, of one relation where it is named, page by page', async () => {
      const { key } = await service.createTenant();
      const relations = ['viewer', 'admin', 'owner'];
      const others = ['u:2', 'u:1'];
      for (const relation of relations) {
        for (const other of others) {
          await post(key, '/v1/grants', { subject: other, relation, object: 'd:1' });
          await post(key, '/v1/grants', { subject: 's:1', relation, object: other });
        }
      }
      const expected = relations.toSorted().flatMap((relation) => others.toSorted().map((other) => [relation, other]));
      for (const [anchor, field] of [
        ['object=d:1', 'subject'],
        ['subject=s:1', 'object'],
      ] as const) {
        for (const limit of [1, 4, 100]) {
          const listed: unknown[] = [];
          let cursor: unknown = '';
          while (cursor !== null) {
            const more = cursor === '' ? '' : `&cursor=${cursor}`;
            const answer = await get(key, `/v1/grants?${anchor}&limit=${limit}${more}`);
            assert.equal(answer.status, 200, answer.text);
            const { grants, next_cursor } = recordOf(answer);
            assert.ok(Array.isArray(grants) && grants.length <= limit);
            listed.push(...grants.map((grant) => [grant.relation, grant[field]]));
            cursor = next_cursor;
          }
          assert.deepEqual(listed, expected);
        }
        const { grants } = recordOf(await get(key, `/v1/grants?${anchor}&relation=owner`));
        assert.ok(Array.isArray(grants));
        assert.deepEqual(
          grants.map((grant) => [grant.relation, grant[field]]),
          expected.filter(([relation]) => relation === 'owner'),
        );
      }
    });
  });

  describe('listings of objects and of subjects', () => {
    for (const [plural, own, anchor] of [
      ['objects', 'object', 'subject=user:ada'],
      ['subjects', 'subject', `object=${TUPLE.object}`],
    ] as const) {
      const list = async (key: string, query: string) => {
        const answer = await get(key, `/v1/${plural}?${query}&relation=viewer`);
        assert.equal(answer.status, 200, answer.text);
        const { [plural]: listed, next_cursor: cursor, ...rest } = recordOf(answer);
        assert.deepEqual(rest, {});
        assert.ok(Array.isArray(listed));
        return { listed, cursor };
      };

      it(`come ascending by bytes, page by page, each once, whatever the size of the pages: ${plural}`, async () => {
        const { key } = await service.createTenant();
        const all = ['b:1', 'a:2', 'a:10', 'a:1', 'a:\uffee', 'a:😀', 'Z:1'];
        for (const each of all) await post(key, '/v1/grants', { ...TUPLE, [own]: each });
        await post(key, '/v1/grants', { ...TUPLE, relation: 'owner', [own]: 'other:1' });
        const sorted = all.toSorted((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
        const found: unknown[] = [];
        let cursor: unknown;
        for (const limit of [1, 2, 3, 1000]) {
          const page = await list(key, `${anchor}&limit=${limit}${cursor === undefined ? '' : `&cursor=${cursor}`}`);
          assert.ok(page.listed.length <= limit);
          found.push(...page.listed);
          cursor = page.cursor;
          if (cursor === null) break;
        }
        assert.equal(cursor, null);
        assert.deepEqual(found, sorted);
        const inNamespace = await list(key, `${anchor}&namespace=a&via=direct`);
        assert.deepEqual(
          inNamespace.listed,
          sorted.filter((each) => each.startsWith('a:')),
        );
        const none = await list(key, anchor.replace(/=.*/, '=d:none'));
        assert.deepEqual(none, { listed: [], cursor: null });
      });

      it(`follow each grant and each revocation at once: ${plural}`, async () => {
        const { key } = await service.createTenant();
        for (let round = 0; round < 3; round += 1) {
          await post(key, '/v1/grants', TUPLE);
          assert.deepEqual((await list(key, anchor)).listed, [TUPLE[own]]);
          await service.send({ method: 'DELETE', path: '/v1/grants', body: TUPLE, key });
          assert.deepEqual((await list(key, anchor)).listed, []);
        }
      });
    }

    it('are 100 a page where the request does not say', async () => {
      const { key } = await service.createTenant();
      await Promise.all(
        Array.from({ length: 101 }, (_, index) => post(key, '/v1/grants', { ...TUPLE, object: `d:${index}` })),
      );
      const { objects, next_cursor } = recordOf(await get(key, '/v1/objects?subject=user:ada&relation=viewer'));
      assert.ok(Array.isArray(objects));
      assert.equal(objects.length, 100);
      assert.equal(typeof next_cursor, 'string');
    });

    it('take no cursor that is tampered with, of another query or of another tenant', async () => {
      const { key } = await service.createTenant();
      const other = await service.createTenant();
      for (const each of [key, other.key]) {
        for (const object of ['d:1', 'd:2']) await post(each, '/v1/grants', { ...TUPLE, object });
      }
      const first = '/v1/objects?subject=user:ada&relation=viewer&limit=1';
      const cursor = String(recordOf(await get(key, first)).next_cursor);
      assert.equal((await get(key, `${first}&cursor=${cursor}`)).status, 200);
      const flipped = `${cursor.slice(0, -1)}${cursor.endsWith('A') ? 'B' : 'A'}`;
      const bad: [string, string][] = [
        [key, `${first}&cursor=${flipped}`],
        [key, `${first}&cursor=${cursor.slice(1)}`],
        [key, `${first}&cursor=${cursor}x`],
        [key, `${first}&cursor=x`],
        [key, `${first}&cursor=`],
        [key, `${first}&cursor=%00`],
        [key, `/v1/objects?subject=user:bob&relation=viewer&cursor=${cursor}`],
        [key, `/v1/objects?subject=user:ada&relation=editor&cursor=${cursor}`],
        [key, `/v1/objects?subject=user:ada&relation=viewer&namespace=d&cursor=${cursor}`],
        [key, `/v1/keys?cursor=${cursor}`],
        [other.key, `${first}&cursor=${cursor}`],
      ];
      for (const [each, path] of bad) {
        assertProblem(await get(each, path), 400, 'invalid-cursor', service.errorsBase);
      }
    });
  });

  describe('a namespace', () => {
    it('absent → POST → present: 201; present → POST → present: 200', async () => {
      const { key } = await service.createTenant();
      const created = await post(key, '/v1/namespaces', { name: 'folder' });
      assert.equal(created.status, 201);
      const { name, created_at, ...rest } = recordOf(created);
      assert.equal(name, 'folder');
      assert.match(String(created_at), TIMESTAMP);
      assert.deepEqual(rest, {});
      const again = await post(key, '/v1/namespaces', { name: 'folder' });
      assert.equal(again.status, 200);
      assert.deepEqual(recordOf(again), recordOf(created));
    });

    it('is created by the first grant that names it, and stays', async () => {
      const { key } = await service.createTenant();
      assert.deepEqual(recordOf(await get(key, '/v1/namespaces')), { namespaces: [] });
      await post(key, '/v1/namespaces', { name: 'folder' });
      await post(key, '/v1/grants', TUPLE);
      await revoke(key, TUPLE);
      const { namespaces, ...rest } = recordOf(await get(key, '/v1/namespaces'));
      assert.deepEqual(rest, {});
      assert.ok(Array.isArray(namespaces));
      assert.deepEqual(
        namespaces.map(({ name }) => name),
        ['document', 'folder', 'user'],
      );
      for (const namespace of namespaces) {
        assert.deepEqual(Object.keys(namespace), ['name', 'created_at']);
        assert.match(namespace.created_at, TIMESTAMP);
      }
    });

    it('is not created by a check', async () => {
      const { key } = await service.createTenant();
      await isAuthorized(key, TUPLE);
      assert.deepEqual(recordOf(await get(key, '/v1/namespaces')), { namespaces: [] });
    });
  });

  it('keeps tenants apart', async () => {
    const [ada, bob] = [await service.createTenant(), await service.createTenant()];
    await post(ada.key, '/v1/grants', TUPLE);
    assert.equal(await isAuthorized(bob.key, TUPLE), false);
    assertProblem(await revoke(bob.key, TUPLE), 404, 'grant-not-found', service.errorsBase);
    assert.deepEqual(recordOf(await get(bob.key, '/v1/namespaces')), { namespaces: [] });
    assert.deepEqual(recordOf(await get(bob.key, '/v1/objects?subject=user:ada&relation=viewer')).objects, []);
    assert.equal(await isAuthorized(ada.key, TUPLE), true);
  });
});
