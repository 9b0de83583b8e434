// The change feed through a front: pages, and followers that outlive an owner and end with their key.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FeedBatch, FeedFollower } from '../../../src/front/changes.ts';
import type { TenantSession } from '../../../src/front/front.ts';
import { grantCreated } from '../../kit/fake-feed.ts';
import { contextFor, setStage, until } from './harness.ts';

interface Noted extends FeedFollower {
  readonly got: readonly number[];
  readonly ended: readonly (string | undefined)[];
}

function createNoted(): Noted {
  const got: number[] = [];
  const ended: (string | undefined)[] = [];
  const take = ({ changes }: FeedBatch): boolean => {
    got.push(...changes.map(({ seq }) => seq));
    return true;
  };
  return { got, ended, take, end: (error) => ended.push(error?.code) };
}

async function follow(session: TenantSession): Promise<Noted> {
  const noted = createNoted();
  await session.followChanges({}, {}, noted);
  return noted;
}

test('a page has the changes with their cursors, and waits where there are none', async (t) => {
  const stage = await setStage(t);
  const session = await stage.session();
  const { feed } = stage.tenant;
  feed.commit(grantCreated('doc:1'), '{"action":"namespace.created","name":"doc"}', '{"action":"key.created"}');
  const query = { filter: {}, limit: 10, waitMs: 0 };
  const page = await session.readChanges(contextFor(), query);
  assert.deepEqual(page, {
    changes: [
      {
        seq: 1,
        index: 0,
        atMs: 1_700_000_000_001,
        actor: 'operator:ann',
        requestId: 'req_1',
        cursor: '1.0',
        change: {
          action: 'grant.created',
          grant: { subject: 'user:a', relation: 'viewer', object: 'doc:1', grantId: 'grt_1', createdAtMs: 0 },
        },
      },
      {
        seq: 1,
        index: 1,
        atMs: 1_700_000_000_001,
        actor: 'operator:ann',
        requestId: 'req_1',
        cursor: '1.1',
        change: { action: 'namespace.created', name: 'doc' },
      },
    ],
    cursor: '2.-1',
    atMs: 1_700_000_100_000,
    atEnd: true,
  });
  const waiting = session.readChanges(contextFor(), { ...query, cursor: page.cursor, waitMs: 5000 });
  await until(() => stage.world.waits.size === 1, 'the wait');
  feed.grant(1);
  stage.world.wake();
  assert.deepEqual(
    (await waiting).changes.map(({ seq }) => seq),
    [2],
  );
  feed.keptFromSeq = 2;
  await assert.rejects(session.readChanges(contextFor(), { ...query, cursor: '1.0' }), {
    code: 'cursor-too-old',
    details: { earliest: '2.-1' },
  });
});

test('a follower goes on at the next owner, and misses nothing that came in between', async (t) => {
  const stage = await setStage(t, { shards: 2 });
  const session = await stage.session();
  const { feed } = stage.tenant;
  feed.grant(3);
  const noted = await follow(session);
  await until(() => noted.got.length === 3 && stage.world.waits.size > 0, 'the tail');
  const [first, second] = stage.shards;
  assert.ok(first && second);
  const slots = [...first.epochs.keys()];
  first.release(slots);
  feed.grant(2);
  second.own(slots, stage.servers[1]?.address);
  await until(() => noted.got.length === 5, 'the rest');
  feed.grant(1);
  stage.world.wake();
  await until(() => noted.got.length === 6, 'what comes');
  assert.deepEqual(noted.got, [1, 2, 3, 4, 5, 6]);
  assert.deepEqual(noted.ended, []);
});

test('a follower ends with its key', async (t) => {
  const stage = await setStage(t);
  const session = await stage.session();
  const { tenant } = stage;
  const noted = await follow(session);
  await until(() => stage.world.waits.size > 0, 'the tail');
  tenant.keys.clear();
  stage.shard.endHandles(tenant.record.tenantId);
  await until(() => noted.ended.length === 1, 'the end');
  assert.deepEqual(noted.ended, ['unauthorized']);
});

test('a follower ends with the suspension of its tenant', async (t) => {
  const stage = await setStage(t);
  const noted = await follow(await stage.session());
  const { tenant } = stage;
  await until(() => stage.world.waits.size > 0, 'the tail');
  tenant.record = { ...tenant.record, state: 'suspended' };
  stage.shard.endHandles(tenant.record.tenantId);
  await until(() => noted.ended.length === 1, 'the end');
  assert.deepEqual(noted.ended, ['tenant-suspended']);
});

test('a front that closes ends its followers without an error', async (t) => {
  const stage = await setStage(t);
  const noted = await follow(await stage.session());
  await stage.front.close();
  await until(() => noted.ended.length === 1, 'the end');
  assert.deepEqual(noted.ended, [undefined]);
});
