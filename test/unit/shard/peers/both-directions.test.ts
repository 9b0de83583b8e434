// Grants by their objects: who holds a relation, what is stored on an object; the same grants as by their subjects, at
// every moment, whatever was read, evicted, replayed or failed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareUtf8, RELATIONS, type Tuple } from '../../../../src/core/tuples.ts';
import { readAll } from '../../../kit/store/read-all.ts';
import { numbered, type OpenSlot, openSlot, type SlotOptions, tuple, turns } from '../tools.ts';

/** What a listing of one direction goes over, all pages of it; `anchor` is what it lists for. */
type List = (
  slot: OpenSlot,
  handle: number,
  anchor: string,
  more?: { readonly namespace?: string; readonly limit?: number },
) => Promise<readonly string[]>;

interface Direction {
  readonly what: string;
  readonly list: List;
  /** A grant that is listed as `item`. */
  grant(item: string, anchor: string): Tuple;
}

const DIRECTIONS: readonly Direction[] = [
  {
    what: 'subjects',
    list: (slot, handle, object, { namespace, limit = 100 } = {}) =>
      readAll((cursor) =>
        slot.connection.listHolders(handle, { object, relation: 'viewer', namespace, limit, cursor }),
      ),
    grant: (item, anchor) => tuple(item, anchor),
  },
  {
    what: 'objects',
    list: (slot, handle, subject, { namespace, limit = 100 } = {}) =>
      readAll((cursor) =>
        slot.connection.listObjects(handle, { subject, relation: 'viewer', namespace, limit, cursor }),
      ),
    grant: (item, anchor) => tuple(anchor, item),
  },
];

const LIMITS: readonly (readonly [string, SlotOptions])[] = [
  ['from memory', {}],
  ['too large for memory', { pageLimits: { rowsMax: 20 } }],
];
const ANCHOR = 'anchor:1';

for (const { what, list, grant } of DIRECTIONS) {
  for (const [size, options] of LIMITS) {
    test(`${what} come by their bytes, of one namespace where it is named: ${size}`, async () => {
      const { slot, handle } = await openSlot(options);
      const items = ['user:\u{1F600}', 'user:\uFFFD', 'user:z', 'us:1', 'users:1', 'user.x:1', 'user:a:b'];
      items.push(...numbered(30, 'user:'));
      const grants = items.map((item) => grant(item, ANCHOR));
      await slot.writeAll(handle, [...grants, { ...grant('user:editor', ANCHOR), relation: 'editor' }]);
      for (const round of ['before it is in state', 'after']) {
        for (const limit of [1, 7, 100]) {
          assert.deepEqual(await list(slot, handle, ANCHOR, { limit }), items.toSorted(compareUtf8), round);
        }
        assert.deepEqual(await list(slot, handle, ANCHOR, { namespace: 'us' }), ['us:1']);
        assert.deepEqual(await list(slot, handle, ANCHOR, { namespace: 'none' }), []);
        assert.deepEqual(await list(slot, handle, 'anchor:2'), []);
        await slot.applied();
      }
    });

    test(`${what} that stay throughout a listing appear exactly once while others come and go: ${size}`, async () => {
      const { slot, handle } = await openSlot(options);
      const lasting = numbered(60, 'user:');
      const fleeting = lasting.map((item) => grant(`${item}x`, ANCHOR));
      await slot.writeAll(handle, [...lasting.map((item) => grant(item, ANCHOR)), ...fleeting]);
      let listing = true;
      const churn = (async () => {
        for (let round = 0; listing; round += 1) {
          const some = fleeting.filter((_, index) => index % 5 === round % 5);
          await slot.writeAll(handle, some, round % 2 === 0);
          await turns(1);
        }
      })();
      for (const limit of [1, 7, 33]) {
        const listed = await list(slot, handle, ANCHOR, { limit });
        assert.deepEqual(
          listed.filter((item) => !item.endsWith('x')),
          lasting,
        );
        assert.deepEqual(listed, [...new Set(listed)].sort(compareUtf8));
      }
      listing = false;
      await churn;
    });
  }
}

const ENTITIES = ['a:1', 'a:2', 'b:1', 'b:2', 'b:\u{1F600}'];
const tuples = fc.record({
  subject: fc.constantFrom(...ENTITIES),
  relation: fc.constantFrom(...RELATIONS.slice(0, 3)),
  object: fc.constantFrom(...ENTITIES),
});
const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('write'), tuple: tuples, revoke: fc.boolean() }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('read'), entity: fc.constantFrom(...ENTITIES) }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'applied' } as const) },
    { weight: 1, arbitrary: fc.constant({ kind: 'restart' } as const) },
  ),
  { maxLength: 40 },
);

const textOf = ({ subject, relation, object }: Tuple): string => `${subject} ${relation} ${object}`;

test('both directions hold what a plain set holds, after every step', async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.constantFrom(3, 100), async (taken, rowsMax) => {
      const opened = await openSlot({ pageLimits: { rowsMax } });
      let { slot, handle } = opened;
      const model = new Map<string, Tuple>();
      const readGrants = async (of: { subject: string } | { object: string }) => {
        const grants = await readAll((cursor) =>
          slot.connection.listGrants(handle, { of, relation: undefined, limit: 2, cursor }),
        );
        return grants.map(textOf);
      };
      const check = async (entity: string) => {
        const of = (side: 'subject' | 'object') =>
          [...model.values()].filter((each) => each[side] === entity).map(textOf);
        assert.deepEqual((await readGrants({ subject: entity })).sort(), of('subject').sort());
        assert.deepEqual((await readGrants({ object: entity })).sort(), of('object').sort());
      };
      for (const step of taken) {
        if (step.kind === 'write') {
          await slot.writeAll(handle, [step.tuple], step.revoke);
          if (step.revoke) model.delete(textOf(step.tuple));
          else model.set(textOf(step.tuple), step.tuple);
        } else if (step.kind === 'read') await check(step.entity);
        else if (step.kind === 'applied') await slot.applied();
        else {
          slot = await slot.restart();
          handle = await slot.handle(opened.tenantId);
        }
      }
      for (const entity of ENTITIES) await check(entity);
      slot.kill();
    }),
    { numRuns: 60 },
  );
});

test('grants are listed by relation and the other, of one relation where it is named', async () => {
  const { slot, handle } = await openSlot();
  const given: Tuple[] = (['viewer', 'owner', 'admin'] as const).flatMap((relation) =>
    ['user:b', 'user:a'].map((subject) => ({ subject, relation, object: 'doc:1' })),
  );
  await slot.writeAll(handle, given);
  for (const limit of [1, 4, 100]) {
    const list = (relation: 'owner' | undefined) =>
      readAll((cursor) => slot.connection.listGrants(handle, { of: { object: 'doc:1' }, relation, limit, cursor }));
    assert.deepEqual(
      (await list(undefined)).map(textOf),
      ['admin', 'owner', 'viewer'].flatMap((relation) => [`user:a ${relation} doc:1`, `user:b ${relation} doc:1`]),
    );
    assert.deepEqual((await list('owner')).map(textOf), ['user:a owner doc:1', 'user:b owner doc:1']);
  }
});

test('a cursor of one listing is none of another', async () => {
  const { slot, handle } = await openSlot();
  const given = numbered(3, 'user:').flatMap((entity) => [tuple(entity, 'doc:1'), tuple('doc:1', entity)]);
  await slot.writeAll(handle, given);
  const page = { limit: 1, cursor: undefined };
  const ofObject = { of: { object: 'doc:1' }, relation: undefined } as const;
  const ofSubject = { of: { subject: 'doc:1' }, relation: undefined } as const;
  const whoMay = { object: 'doc:1', relation: 'viewer', namespace: undefined } as const;
  const whatMay = { subject: 'doc:1', relation: 'viewer', namespace: undefined } as const;
  const lists = [
    (cursor: string | undefined) => slot.connection.listGrants(handle, { ...ofObject, ...page, cursor }),
    (cursor: string | undefined) => slot.connection.listGrants(handle, { ...ofSubject, ...page, cursor }),
    (cursor: string | undefined) =>
      slot.connection.listGrants(handle, { ...ofObject, relation: 'viewer', ...page, cursor }),
    (cursor: string | undefined) => slot.connection.listHolders(handle, { ...whoMay, ...page, cursor }),
    (cursor: string | undefined) =>
      slot.connection.listHolders(handle, { ...whoMay, namespace: 'user', ...page, cursor }),
    (cursor: string | undefined) => slot.connection.listObjects(handle, { ...whatMay, ...page, cursor }),
  ];
  for (const [index, list] of lists.entries()) {
    const { nextCursor } = await list(undefined);
    assert.ok(nextCursor !== undefined);
    for (const [other, listOther] of lists.entries()) {
      if (other === index) await listOther(nextCursor);
      else await assert.rejects(async () => listOther(nextCursor), { code: 'invalid-cursor' }, `${index} in ${other}`);
    }
  }
});
