// Followers of a change feed at a front: each gets every change that fits once, in the order of the log, from its start
// to its end, however slow it is, and whatever happens to the owner; and all of a session share one call.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { feedMatcher, parseFeedContent } from '../../../../src/core/change-feed.ts';
import { GrantdError } from '../../../../src/core/errors.ts';
import type { AuditRecord } from '../../../../src/shard/shard.ts';
import { grantCreated } from './fake-feed.ts';
import { FeedWorld, Noted } from './feed-world.ts';

const seqs = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => `${from + index}.0`);
const unavailable = new GrantdError('unavailable', 'No owner.');

test('a follower gets what is kept, and then what comes, at once after a pause', async () => {
  const world = new FeedWorld();
  world.grant(120);
  const noted = await world.follow(new Noted());
  assert.deepEqual(noted.got, seqs(1, 120));
  world.grant();
  await world.pass(0);
  assert.deepEqual(noted.got, seqs(1, 121));
  // More gathers for a moment.
  world.grant();
  await world.pass(10);
  world.grant();
  await world.pass(10);
  assert.deepEqual(noted.got, seqs(1, 121));
  await world.pass(10);
  assert.deepEqual(
    noted.batches.at(-1)?.changes.map(({ seq }) => seq),
    [122, 123],
  );
  assert.equal(noted.batches.at(-1)?.cursor, '124.-1');
});

test('a subscription comes before its first batch', async () => {
  const world = new FeedWorld();
  world.grant(1);
  const noted = new Noted();
  const subscription = await world.feeds.follow(world.session, {}, {}, noted);
  assert.deepEqual(noted.batches, []);
  subscription.close();
  await world.pass(10);
  assert.deepEqual([noted.batches, noted.ended], [[], undefined]);
});

test('a follower from now on, or from a cursor, gets nothing from before', async () => {
  const world = new FeedWorld();
  world.grant(5);
  const now = await world.follow(new Noted(), { since: 'now' });
  const from = await world.follow(new Noted(), { cursor: '3.0' });
  const since = await world.follow(new Noted(), { since: 1_700_000_000_005 });
  world.grant();
  await world.pass(30);
  assert.deepEqual([now.got, from.got, since.got], [seqs(6, 6), seqs(4, 6), seqs(5, 6)]);
});

test('what the tails keep is counted while somebody follows', async () => {
  const world = new FeedWorld();
  assert.deepEqual([world.feeds.tails, world.feeds.heldBytes], [0, 0]);
  await world.follow(new Noted());
  world.grant(3);
  await world.pass(30);
  assert.equal(world.feeds.tails, 1);
  assert.ok(world.feeds.heldBytes > 3 * 700, String(world.feeds.heldBytes));
  world.feeds.close();
  assert.deepEqual([world.feeds.tails, world.feeds.heldBytes], [0, 0]);
});

test('all followers of a session share one waiting call and its batches', async () => {
  const world = new FeedWorld();
  const all = await Promise.all([1, 2, 3].map(() => world.follow(new Noted())));
  all.push(await world.follow(new Noted({ relations: ['owner'] })));
  await world.pass(30);
  assert.equal(world.waiting, 1);
  const asked = world.queries.length;
  world.grant(2);
  await world.pass(30);
  assert.equal(world.queries.length, asked + 1);
  const batches = all.map(({ batches: got }) => got.at(-1));
  for (const batch of batches) assert.equal(batch, batches[0]);
  assert.deepEqual(all.at(-1)?.got, []);
});

test('without a change, every wait ends with a checkpoint', async () => {
  const world = new FeedWorld();
  world.grant();
  const noted = await world.follow(new Noted());
  const before = noted.batches.length;
  await world.pass(10_050);
  const checkpoints = noted.batches.slice(before);
  assert.equal(checkpoints.length, 2);
  for (const { changes, cursor } of checkpoints) assert.deepEqual([changes, cursor], [[], '2.-1']);
});

test('a follower that is behind gets nothing until it resumes, and then all of it', async () => {
  const world = new FeedWorld();
  const slow = await world.follow(new Noted());
  const quick = await world.follow(new Noted());
  slow.appetite = 1;
  for (let round = 0; round < 4; round += 1) {
    world.grant(3);
    await world.pass(50);
  }
  assert.deepEqual([slow.got, quick.got], [seqs(1, 3), seqs(1, 12)]);
  slow.appetite = undefined;
  slow.subscription?.resume();
  assert.deepEqual(slow.got, seqs(1, 12), 'from what the tail keeps');
  slow.appetite = 1;
  // Far more than the tail keeps.
  for (let round = 0; round < 200; round += 1) {
    world.grant(10);
    await world.pass(50);
  }
  assert.deepEqual(quick.got, seqs(1, 2012));
  slow.appetite = undefined;
  slow.subscription?.resume();
  await world.pass(100);
  assert.deepEqual(slow.got, seqs(1, 2012));
  world.grant();
  await world.pass(50);
  assert.deepEqual(slow.got, seqs(1, 2013), 'and it is at the tail again');
});

test('a failover is a pause; a long one ends the followers', async () => {
  const world = new FeedWorld();
  const noted = await world.follow(new Noted());
  world.grant(2);
  await world.pass(30);
  const { length } = noted.batches;
  world.fail(unavailable);
  await world.pass(20_000);
  assert.equal(noted.batches.length, length, 'no checkpoint without an owner');
  world.grant(2);
  world.fail(undefined);
  await world.pass(2500);
  assert.deepEqual(noted.got, seqs(1, 4));
  world.fail(unavailable);
  await world.pass(58_000);
  const endedEarly = noted.ended !== undefined;
  await world.pass(8000);
  assert.deepEqual([endedEarly, noted.ended?.error?.code], [false, 'unavailable']);
});

test('what the owner refuses for good ends every follower with it, also one that is behind', async () => {
  const world = new FeedWorld();
  const noted = await world.follow(new Noted());
  const behind = new Noted();
  behind.appetite = 1;
  world.grant(200);
  await world.follow(behind);
  world.fail(new GrantdError('unauthorized', 'Revoked.'));
  await world.pass(30);
  assert.deepEqual(
    [noted, behind].map(({ ended }) => ended?.error?.code),
    ['unauthorized', 'unauthorized'],
  );
  await assert.rejects(world.follow(new Noted()), { code: 'unauthorized' });
  world.fail(undefined);
  const next = await world.follow(new Noted());
  assert.equal(next.got.length, 200, 'a new tail');
});

test('the first read may refuse the start', async () => {
  const world = new FeedWorld();
  world.feed.keptFromSeq = 5;
  await assert.rejects(world.follow(new Noted(), { cursor: 'x' }), { code: 'invalid-cursor' });
  await assert.rejects(world.follow(new Noted(), { cursor: '2.0' }), { details: { earliest: '5.-1' } });
  world.fail(unavailable);
  await assert.rejects(world.follow(new Noted()), { code: 'unavailable' });
  assert.equal(world.waiting, 0);
});

test('when nobody follows any more, the owner is not asked any more', async () => {
  const world = new FeedWorld();
  const first = await world.follow(new Noted());
  await world.pass(30);
  first.subscription?.close();
  // Who comes back in the meantime shares the call that is still there.
  const second = await world.follow(new Noted());
  assert.equal(world.waiting, 1);
  world.grant();
  await world.pass(30);
  assert.deepEqual([first.got, second.got], [[], seqs(1, 1)]);
  second.subscription?.close();
  await world.pass(6000);
  const asked = world.queries.length;
  await world.pass(60_000);
  assert.deepEqual([world.waiting, world.queries.length, world.clock.timers], [0, asked, 0]);
});

test('a front that closes ends its followers without an error, and refuses new ones', async () => {
  const world = new FeedWorld();
  const noted = await world.follow(new Noted());
  world.feeds.close();
  await world.pass(0);
  assert.deepEqual(noted.ended, { error: undefined });
  world.grant();
  await world.pass(6000);
  await assert.rejects(world.follow(new Noted()), { code: 'unavailable' });
});

type Step =
  | { readonly kind: 'commit'; readonly changes: readonly string[] }
  | { readonly kind: 'follow' | 'eat' | 'close' | 'resume'; readonly number: number }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'fail' | 'recover' };

const change = fc.constantFrom(
  grantCreated('doc:1'),
  grantCreated('team:1'),
  grantCreated('doc:1', 'owner'),
  '{"action":"key.created"}',
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('commit' as const),
      changes: fc.array(change, { minLength: 1, maxLength: 70, size: 'max' }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('follow', 'follow', 'eat', 'eat', 'resume', 'close'),
      number: fc.nat(4),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(60) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('fail', 'recover') }) },
);
const FILTERS = [{}, { relations: ['owner'] }, { namespaces: ['team'] }, { on: ['doc:viewer'] }, { actions: [] }];

/** Everything of the entries up to the seq of a batch has come with it or before. */
function assertWhole({ batches, filter }: Noted, expected: readonly AuditRecord[]): void {
  const fits = feedMatcher(filter) ?? (() => true);
  let count = 0;
  for (const { changes, seq } of batches) {
    count += changes.filter(fits).length;
    assert.equal(
      expected.slice(count).find((change) => change.seq <= seq),
      undefined,
    );
  }
}

test('whatever happens in between, each follower has exactly what fits, in order, and knows of which entries', async () => {
  const property = fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 120, size: 'max' }), async (steps) => {
    const world = new FeedWorld();
    const followers: Noted[] = [];
    for (const each of steps) {
      const one = 'number' in each ? followers[each.number] : undefined;
      if (each.kind === 'commit') {
        world.feed.commit(...each.changes);
        world.wake();
      } else if (each.kind === 'follow') {
        const noted = new Noted(FILTERS[each.number]);
        await world.follow(noted).then(
          () => followers.push(noted),
          (error) => assert.equal(error.code, 'unavailable'),
        );
      } else if (each.kind === 'eat' && one !== undefined) one.appetite = (one.appetite ?? 0) + 1;
      else if (each.kind === 'resume' && one !== undefined) {
        if (one.appetite === 0) one.appetite = 2;
        one.subscription?.resume();
      } else if (each.kind === 'close') one?.subscription?.close();
      else if (each.kind === 'pass') await world.pass(each.ms);
      else if (each.kind === 'fail') world.fail(unavailable);
      else world.fail(undefined);
      if (one !== undefined && each.kind === 'close') followers.splice(followers.indexOf(one), 1);
    }
    world.fail(undefined);
    for (const each of followers) {
      each.appetite = undefined;
      each.subscription?.resume();
    }
    await world.pass(10_000);
    for (const noted of followers) {
      const fits = feedMatcher(noted.filter) ?? (() => true);
      const expected = world.feed.rows.filter(({ change: text }) => {
        const content = parseFeedContent(text);
        return content !== undefined && fits({ change: content });
      });
      assert.deepEqual(
        noted.got,
        expected.map(({ seq, index }) => `${seq}.${index}`),
      );
      assertWhole(noted, expected);
      assert.equal(noted.batches.at(-1)?.seq, world.feed.rows.at(-1)?.seq ?? 0);
      noted.subscription?.close();
    }
  });
  await fc.assert(property, { numRuns: 60 });
});
