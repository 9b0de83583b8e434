// The change feed through a front: pages, and followers that outlive an owner and end with their key.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseApiKey } from '../../../src/core/api-keys.ts';
import { type FeedChange, parseFeedContent } from '../../../src/core/change-feed.ts';
import { GrantdError } from '../../../src/core/errors.ts';
import type { FeedBatch, FeedFollower } from '../../../src/front/changes.ts';
import type { TenantSession } from '../../../src/front/front.ts';
import { contextFor, type Stage, setStage, until } from './harness.ts';

interface Noted extends FeedFollower {
  /** Objects of new grants. */
  readonly got: readonly string[];
  readonly ended: readonly (string | undefined)[];
}

const objectsOf = (changes: readonly FeedChange[]): readonly string[] =>
  changes.flatMap(({ change }) => (change.action === 'grant.created' ? [change.grant.object] : []));

function createNoted(): Noted {
  const got: string[] = [];
  const ended: (string | undefined)[] = [];
  const take = ({ changes }: FeedBatch): boolean => {
    got.push(...objectsOf(changes));
    return true;
  };
  return { got, ended, take, end: (error) => ended.push(error?.code) };
}

/** One entry of the log for each. */
async function grant({ world, tenantId }: Stage, ...objects: readonly string[]): Promise<void> {
  for (const object of objects) await world.grant(tenantId, `user:a viewer ${object}`);
}

async function follow(session: TenantSession): Promise<Noted> {
  const noted = createNoted();
  await session.followChanges({}, {}, noted);
  return noted;
}

test('a page has the changes with their cursors, and waits where there are none', async (t) => {
  const stage = await setStage(t);
  const session = await stage.session();
  await grant(stage, 'doc:1');
  const { items } = await stage.world.operator.listAuditLog({ tenantId: stage.tenantId, limit: 10, cursor: undefined });
  const logged = items.flatMap((row) => {
    const change = parseFeedContent(row.change);
    return change === undefined ? [] : [{ ...row, change }];
  });
  const query = { filter: {}, limit: 10, waitMs: 0 };
  const page = await session.readChanges(contextFor(), query);
  assert.deepEqual(
    page.changes.map(({ cursor: _, ...change }) => change),
    logged,
  );
  assert.deepEqual(
    page.changes.map(({ change: { action } }) => action),
    ['namespace.created', 'namespace.created', 'grant.created'],
  );
  assert.equal(page.atEnd, true);
  assert.ok(page.atMs >= (page.changes.at(-1)?.atMs ?? Number.NaN) && page.atMs <= Date.now());
  const rest = await session.readChanges(contextFor(), { ...query, cursor: page.changes[0]?.cursor });
  assert.deepEqual(rest.changes, page.changes.slice(1));
  const waiting = session.readChanges(contextFor(), { ...query, cursor: page.cursor, waitMs: 5000 });
  await until(() => stage.world.followers === 1, 'the wait');
  await grant(stage, 'doc:2');
  assert.deepEqual(objectsOf((await waiting).changes), ['doc:2']);
  stage.shard.onCall = () => {
    throw new GrantdError('cursor-too-old', 'Not kept.', { details: { earliest: 'there' } });
  };
  await assert.rejects(session.readChanges(contextFor(), { ...query, cursor: page.cursor }), {
    code: 'cursor-too-old',
    details: { earliest: 'there' },
  });
});

test('a follower goes on at the next owner, and misses nothing that came in between', async (t) => {
  const stage = await setStage(t, { shards: 2 });
  const session = await stage.session();
  await grant(stage, 'doc:1', 'doc:2', 'doc:3');
  const noted = await follow(session);
  await until(() => noted.got.length === 3 && stage.world.followers > 0, 'the tail');
  const [first, second] = stage.shards;
  assert.ok(first && second);
  const slots = [...first.epochs.keys()];
  first.release(slots);
  await grant(stage, 'doc:4', 'doc:5');
  second.own(slots, stage.servers[1]?.address);
  await until(() => noted.got.length === 5, 'the rest');
  await grant(stage, 'doc:6');
  await until(() => noted.got.length === 6, 'what comes');
  assert.deepEqual(noted.got, ['doc:1', 'doc:2', 'doc:3', 'doc:4', 'doc:5', 'doc:6']);
  assert.deepEqual(noted.ended, []);
});

test('a follower ends with its key', async (t) => {
  const stage = await setStage(t);
  const session = await stage.session();
  const noted = await follow(session);
  await until(() => stage.world.followers > 0, 'the tail');
  await stage.world.revokeKey(stage.tenantId, parseApiKey(stage.key)?.keyId ?? assert.fail());
  await until(() => noted.ended.length === 1, 'the end');
  assert.deepEqual(noted.ended, ['unauthorized']);
});

test('a follower ends with the suspension of its tenant', async (t) => {
  const stage = await setStage(t);
  const noted = await follow(await stage.session());
  await until(() => stage.world.followers > 0, 'the tail');
  await stage.world.update(stage.tenantId, { state: 'suspended' });
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
