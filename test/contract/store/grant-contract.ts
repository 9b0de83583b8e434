// Grants as rows of state: point reads, listings in the order of bytes, pages whose limit counts tombstone rows too.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RELATIONS } from '../../../src/core/tuples.ts';
import {
  createGrantWrite,
  newTenantId,
  readAllGrants,
  readAllObjectGrants,
  soon,
} from '../../kit/store/store-fixtures.ts';
import type { StoreContext } from './store-contract.ts';

/** Ascending by UTF-8; by UTF-16 the astral one would come before the two from U+E000 up. */
const OBJECTS_BY_BYTES = [
  'doc:1',
  'doc:10',
  'doc:2',
  'doc:A',
  'doc:a',
  'doc:a:b/c*',
  'doc:é',
  'doc:\u200b',
  'doc:\ue000',
  'doc:\ufffd',
  'doc:😀',
  'doc:😀a',
  'folder:1',
];

const toSorted = (texts: readonly string[]) =>
  [...texts].sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));

export function defineGrantContract(context: StoreContext): void {
  describe('grants', () => {
    it('reads one live grant with what was written', async () => {
      const tenantId = newTenantId();
      const write = createGrantWrite(tenantId, { subject: 'user:日本 😀'.replace(' ', '_'), object: 'doc:é\ufffd😀' });
      await context.store().writeState([write], soon());
      const { subject, relation, object, grantId, createdAtMs } = write;
      const expected = { relation, object, grantId, createdAtMs };
      assert.deepEqual(await context.store().readGrant(tenantId, subject, relation, object, soon()), expected);
      assert.equal(await context.store().readGrant(tenantId, subject, 'editor', object, soon()), undefined);
      assert.equal(await context.store().readGrant(tenantId, 'user:x', relation, object, soon()), undefined);
      assert.equal(await context.store().readGrant(tenantId, subject, relation, 'doc:x', soon()), undefined);
      assert.equal(await context.store().readGrant(newTenantId(), subject, relation, object, soon()), undefined);
    });

    it('tells apart what only case or normalisation makes equal', async () => {
      const tenantId = newTenantId();
      await context.store().writeState([createGrantWrite(tenantId, { object: 'doc:é' })], soon());
      for (const object of ['doc:e\u0301', 'doc:É', 'Doc:é']) {
        assert.equal(await context.store().readGrant(tenantId, 'user:ann', 'viewer', object, soon()), undefined);
      }
    });

    it('lists a subject by relation and object, in the order of their bytes, whatever the size of the page', async () => {
      const tenantId = newTenantId();
      const writes = ['viewer', 'admin', 'owner'].flatMap((relation) =>
        OBJECTS_BY_BYTES.map((object) =>
          createGrantWrite(tenantId, { relation: relation as 'viewer' | 'admin' | 'owner', object }),
        ),
      );
      await context.store().writeState(writes.toReversed(), soon());
      await context.store().writeState([createGrantWrite(tenantId, { subject: 'user:ann2' })], soon());
      const expected = ['admin', 'owner', 'viewer'].flatMap((relation) =>
        OBJECTS_BY_BYTES.map((object) => `${relation} ${object}`),
      );
      for (const limit of [1, 2, 5, 13, 39, 40, 1000]) {
        const all = await readAllGrants(context.store(), { tenantId, subject: 'user:ann', limit });
        assert.deepEqual(all.grants, expected, `pages of ${limit}`);
      }
      const page = await context.store().listGrants({ tenantId, subject: 'user:ann', limit: 1000 }, soon());
      assert.equal(page.next, undefined);
      const first = writes.find((write) => write.relation === 'admin' && write.object === 'doc:1');
      assert.deepEqual(page.grants[0], {
        relation: 'admin',
        object: 'doc:1',
        grantId: first?.grantId,
        createdAtMs: first?.createdAtMs,
      });
    });

    it('lists the first grants of several subjects, and says of each whether these are all', async () => {
      const tenantId = newTenantId();
      const writes = [1, 2, 3].flatMap((count) =>
        OBJECTS_BY_BYTES.slice(0, count).map((object) =>
          createGrantWrite(tenantId, {
            subject: `user:${count}`,
            object,
            tombstone: count === 2 && object === 'doc:1',
          }),
        ),
      );
      await context.store().writeState(writes.toReversed(), soon());
      await context.store().writeState([createGrantWrite(newTenantId(), { subject: 'user:none' })], soon());
      const subjects = ['user:3', 'user:none', 'user:1', 'user:2'];
      for (const limit of [1, 2, 3, 4, 1000]) {
        const listed = await context.store().listGrantsOfEach({ tenantId, subjects, limit }, soon());
        const single = subjects.map((subject) => context.store().listGrants({ tenantId, subject, limit }, soon()));
        const expected = (await Promise.all(single)).map(({ grants, next }) => ({ grants, isAll: next === undefined }));
        assert.deepEqual(listed, expected, `at most ${limit}`);
      }
      assert.deepEqual(await context.store().listGrantsOfEach({ tenantId, subjects: [], limit: 9 }, soon()), []);
    });

    it('lists one relation only, from wherever `after` points', async () => {
      const tenantId = newTenantId();
      const subject = 'user:ann';
      const writes = RELATIONS.flatMap((relation) => [
        createGrantWrite(tenantId, { relation, object: 'doc:1' }),
        createGrantWrite(tenantId, { relation, object: 'doc:2' }),
      ]);
      await context.store().writeState(writes, soon());
      for (const relation of RELATIONS) {
        for (const limit of [1, 2, 3]) {
          const all = await readAllGrants(context.store(), { tenantId, subject, relation, limit });
          assert.deepEqual(all.grants, [`${relation} doc:1`, `${relation} doc:2`]);
        }
      }
      const list = async (after: { relation: (typeof RELATIONS)[number]; object: string }) => {
        const query = { tenantId, subject, relation: 'manager' as const, after, limit: 10 };
        const page = await context.store().listGrants(query, soon());
        return page.grants.map((grant) => grant.object);
      };
      assert.deepEqual(await list({ relation: 'manager', object: 'doc:1' }), ['doc:2']);
      assert.deepEqual(await list({ relation: 'admin', object: 'doc:9' }), ['doc:1', 'doc:2']);
      assert.deepEqual(await list({ relation: 'owner', object: 'doc:1' }), []);
    });

    it('goes on after a row that does not exist', async () => {
      const tenantId = newTenantId();
      const writes = ['doc:1', 'doc:3'].map((object) => createGrantWrite(tenantId, { object }));
      await context.store().writeState(writes, soon());
      const after = { relation: 'viewer', object: 'doc:2' } as const;
      const page = await context.store().listGrants({ tenantId, subject: 'user:ann', after, limit: 10 }, soon());
      assert.deepEqual(
        page.grants.map((grant) => grant.object),
        ['doc:3'],
      );
    });

    it('counts tombstone rows in the limit of a page, hides them, and goes on behind them', async () => {
      const tenantId = newTenantId();
      const objects = Array.from({ length: 30 }, (_, index) => `doc:${String(index).padStart(2, '0')}`);
      const writes = objects.map((object, index) =>
        createGrantWrite(tenantId, { object, tombstone: index % 10 !== 9 }),
      );
      await context.store().writeState(writes, soon());
      const query = { tenantId, subject: 'user:ann', limit: 5 };
      const first = await context.store().listGrants(query, soon());
      assert.deepEqual(first, { grants: [], next: { relation: 'viewer', object: 'doc:04' } });
      const all = await readAllGrants(context.store(), query);
      assert.deepEqual(all.grants, ['viewer doc:09', 'viewer doc:19', 'viewer doc:29']);
      assert.ok(all.pages >= 6);
      assert.equal(await context.store().readGrant(tenantId, 'user:ann', 'viewer', 'doc:00', soon()), undefined);
    });

    it('lists nothing of an unknown subject or tenant', async () => {
      const nothing = { grants: [], next: undefined };
      const query = { tenantId: newTenantId(), subject: 'user:ann', limit: 10 };
      assert.deepEqual(await context.store().listGrants(query, soon()), nothing);
      await context.store().writeState([createGrantWrite(query.tenantId)], soon());
      assert.deepEqual(await context.store().listGrants({ ...query, subject: 'user:an' }, soon()), nothing);
    });

    it('keeps tenants and subjects apart whose names run together', async () => {
      const tenantId = newTenantId();
      const other = newTenantId();
      const writes = [
        createGrantWrite(tenantId, { subject: 'a:b', object: 'c:d' }),
        createGrantWrite(tenantId, { subject: 'a:bviewer', object: 'c:d' }),
        createGrantWrite(tenantId, { subject: 'a:b|viewer|c:d', object: 'c:e' }),
        createGrantWrite(other, { subject: 'a:b', object: 'c:other' }),
      ];
      await context.store().writeState(writes, soon());
      const list = async (tenant: typeof tenantId, subject: string) =>
        (await readAllGrants(context.store(), { tenantId: tenant, subject, limit: 10 })).grants;
      assert.deepEqual(await list(tenantId, 'a:b'), ['viewer c:d']);
      assert.deepEqual(await list(tenantId, 'a:bviewer'), ['viewer c:d']);
      assert.deepEqual(await list(tenantId, 'a:b|viewer|c:d'), ['viewer c:e']);
      assert.deepEqual(await list(other, 'a:b'), ['viewer c:other']);
      assert.deepEqual(await list(other, 'a:bviewer'), []);
    });

    it('applies a large batch as a whole, and shows it once it is confirmed', async () => {
      const tenantId = newTenantId();
      const writes = Array.from({ length: 5000 }, (_, index) =>
        createGrantWrite(tenantId, { object: `doc:${index}`, stamp: 1_700_000_000_000_000 + index }),
      );
      await context.store().writeState(writes, soon());
      const all = await readAllGrants(context.store(), { tenantId, subject: 'user:ann', limit: 700 });
      assert.deepEqual(all.grants, toSorted(writes.map((write) => `viewer ${write.object}`)));
    });

    it('lists an object by relation and subject, in the order of their bytes, whatever the size of the page', async () => {
      const tenantId = newTenantId();
      const subjects = OBJECTS_BY_BYTES.map((object) => object.replace('doc', 'user'));
      const writes = (['viewer', 'admin', 'owner'] as const).flatMap((relation) =>
        subjects.map((subject) => createGrantWrite(tenantId, { subject, relation, object: 'doc:1' })),
      );
      await context.store().writeState(writes.toReversed(), soon());
      await context.store().writeState([createGrantWrite(tenantId, { object: 'doc:10' })], soon());
      await context.store().writeState([createGrantWrite(newTenantId(), { object: 'doc:1' })], soon());
      const expected = ['admin', 'owner', 'viewer'].flatMap((relation) =>
        toSorted(subjects).map((subject) => `${relation} ${subject}`),
      );
      for (const limit of [1, 2, 5, 13, 39, 40, 1000]) {
        const all = await readAllObjectGrants(context.store(), { tenantId, object: 'doc:1', limit });
        assert.deepEqual(all.grants, expected, `pages of ${limit}`);
        const owners = await readAllObjectGrants(context.store(), {
          tenantId,
          object: 'doc:1',
          relation: 'owner',
          limit,
        });
        assert.deepEqual(owners.grants, expected.slice(subjects.length, 2 * subjects.length));
      }
      const first = writes.find(({ relation, subject }) => relation === 'admin' && subject === toSorted(subjects)[0]);
      const page = await context.store().listObjectGrants({ tenantId, object: 'doc:1', limit: 1 }, soon());
      const { subject, relation, grantId, createdAtMs } = first ?? createGrantWrite(tenantId);
      assert.deepEqual(page, { grants: [{ subject, relation, grantId, createdAtMs }], next: { subject, relation } });
      const nothing = { grants: [], next: undefined };
      assert.deepEqual(await context.store().listObjectGrants({ tenantId, object: 'doc:', limit: 9 }, soon()), nothing);
    });

    it('lists the first grants of several objects, and says of each whether these are all', async () => {
      const tenantId = newTenantId();
      const writes = [1, 2, 3].flatMap((count) =>
        ['user:a', 'user:b', 'team:1#member'].slice(0, count).map((subject) => {
          const tombstone = count === 2 && subject === 'user:b';
          return createGrantWrite(tenantId, { subject, object: `doc:${count}`, tombstone });
        }),
      );
      await context.store().writeState(writes.toReversed(), soon());
      await context.store().writeState([createGrantWrite(newTenantId(), { object: 'doc:none' })], soon());
      const objects = ['doc:3', 'doc:none', 'doc:1', 'doc:2'];
      for (const limit of [1, 2, 3, 4, 1000]) {
        const listed = await context.store().listObjectGrantsOfEach({ tenantId, objects, limit }, soon());
        const single = objects.map((object) => context.store().listObjectGrants({ tenantId, object, limit }, soon()));
        const expected = (await Promise.all(single)).map(({ grants, next }) => ({ grants, isAll: next === undefined }));
        assert.deepEqual(listed, expected, `at most ${limit}`);
      }
      assert.deepEqual(await context.store().listObjectGrantsOfEach({ tenantId, objects: [], limit: 9 }, soon()), []);
    });

    it("goes on in an object's grants after a row that does not exist, within a relation or over all", async () => {
      const tenantId = newTenantId();
      const write = (subject: string, relation: 'manager' | 'owner') =>
        createGrantWrite(tenantId, { subject, relation, object: 'doc:1' });
      await context
        .store()
        .writeState([write('user:1', 'manager'), write('user:3', 'manager'), write('user:1', 'owner')], soon());
      const list = async (
        relation: 'manager' | undefined,
        after: { relation: 'admin' | 'manager' | 'owner'; subject: string },
      ) => {
        const query = { tenantId, object: 'doc:1', after, limit: 10, ...(relation === undefined ? {} : { relation }) };
        const { grants } = await context.store().listObjectGrants(query, soon());
        return grants.map((grant) => `${grant.relation} ${grant.subject}`);
      };
      assert.deepEqual(await list(undefined, { relation: 'manager', subject: 'user:2' }), [
        'manager user:3',
        'owner user:1',
      ]);
      assert.deepEqual(await list('manager', { relation: 'manager', subject: 'user:2' }), ['manager user:3']);
      assert.deepEqual(await list('manager', { relation: 'admin', subject: 'user:9' }), [
        'manager user:1',
        'manager user:3',
      ]);
      assert.deepEqual(await list('manager', { relation: 'owner', subject: 'user:0' }), []);
    });

    it("hides the tombstones among an object's grants, and counts them in the limit of a page", async () => {
      const tenantId = newTenantId();
      const writes = Array.from({ length: 30 }, (_, index) =>
        createGrantWrite(tenantId, {
          subject: `user:${String(index).padStart(2, '0')}`,
          object: 'doc:1',
          tombstone: index % 10 !== 9,
        }),
      );
      await context.store().writeState(writes, soon());
      const query = { tenantId, object: 'doc:1', limit: 5 };
      const first = await context.store().listObjectGrants(query, soon());
      assert.deepEqual(first, { grants: [], next: { relation: 'viewer', subject: 'user:04' } });
      const all = await readAllObjectGrants(context.store(), query);
      assert.deepEqual(all.grants, ['viewer user:09', 'viewer user:19', 'viewer user:29']);
    });

    it('takes an empty batch', async () => {
      await context.store().writeState([], soon());
    });

    it('lists the subjects of a bucket in the order of their bytes, page by page', async () => {
      const { bucketOfSubject } = await import('../../../src/core/slots.ts');
      const tenantId = newTenantId();
      const subjects = Array.from({ length: 200 }, (_, index) => `user:${index % 7 === 0 ? '😀' : '\ufffd'}${index}`);
      const writes = subjects.map((subject) => ({ kind: 'subject', tenantId, subject, stamp: 5 }) as const);
      await context.store().writeState(writes, soon());
      for (let bucket = 0; bucket < 16; bucket += 1) {
        const listed: string[] = [];
        for (;;) {
          const last = listed.at(-1);
          const query = { tenantId, bucket, limit: 3, ...(last === undefined ? {} : { after: last }) };
          const page = await context.store().listSubjects(query, soon());
          if (page.length === 0) break;
          assert.ok(page.length <= 3);
          listed.push(...page);
        }
        assert.deepEqual(listed, toSorted(subjects.filter((subject) => bucketOfSubject(subject) === bucket)));
      }
      assert.deepEqual(
        await context.store().listSubjects({ tenantId: newTenantId(), bucket: 0, limit: 9 }, soon()),
        [],
      );
    });
  });
}
