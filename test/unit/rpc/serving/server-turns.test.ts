// A shard that has more to do than time: checks and calls wait for the turn of their tenant.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { parseApiKey } from '../../../../src/core/api-keys.ts';
import { wireNumberOf } from '../../../../src/core/tuples.ts';
import { FailureKind } from '../../../../src/rpc/messages.ts';
import { OUTSTANDING_MAX } from '../../../../src/rpc/protocol.ts';
import { ScriptedShard, ShardWorld } from '../../../kit/scripted-shard.ts';
import { until } from '../../front/harness.ts';
import { HeldTurns } from '../../support/held-turns.ts';
import { HELLO, listen, openStream } from '../harness.ts';

const SLOTS = [0, 1, 2, 3];
const VIEWER = wireNumberOf('viewer');

/** A stream with a handle of each of two tenants, whose every further check and call waits. */
async function setUp(t: TestContext) {
  const world = await ShardWorld.start();
  const shard = new ScriptedShard(world);
  shard.own(SLOTS);
  const tenantIds = [await world.createTenant(), await world.createTenant()];
  const turns = new HeldTurns();
  turns.holding = false;
  const server = await listen(t, () => shard, { turns });
  t.after(() => world.stop());
  const peer = openStream(t, server.address, HELLO);
  const handles: number[] = [];
  for (const [id, tenantId] of tenantIds.entries()) {
    const key = await world.createKey(tenantId);
    const keyId = parseApiKey(key)?.keyId ?? assert.fail();
    peer.stream.write({ calls: [{ id, authenticate: { tenantId, keyId, key } }] });
    handles.push((await peer.reply(id)).handle?.handle ?? assert.fail());
  }
  turns.holding = true;
  return { world, shard, tenantIds, turns, server, handles, ...peer };
}

const check = (id: number, handle = 0) => ({
  ids: [id],
  handles: [handle],
  subjects: ['user:ann'],
  relations: [VIEWER],
  objects: ['doc:1'],
});

test('checks wait for the turn of their tenant, and are answered once it comes', async (t) => {
  const { world, tenantIds, turns, handles, stream, next } = await setUp(t);
  for (const tenantId of tenantIds) await world.grant(tenantId, 'user:ann viewer doc:1');
  stream.write({
    checks: {
      ids: [5, 6],
      handles,
      subjects: ['user:ann', 'user:bob'],
      relations: [VIEWER, VIEWER],
      objects: ['doc:1', 'doc:1'],
    },
  });
  await until(() => turns.waiting === 2);
  assert.deepEqual(turns.keys, tenantIds);
  turns.release(tenantIds[1]);
  assert.deepEqual((await next(({ checkResults }) => checkResults)).denied, [6]);
  turns.release(tenantIds[0]);
  assert.deepEqual((await next(({ checkResults }) => checkResults)).authorized, [5]);
});

test('calls wait for the turn of their tenant, questions of its readers too; others for one of their peer', async (t) => {
  const { tenantIds, turns, handles, stream, reply } = await setUp(t);
  stream.write({
    calls: [
      { id: 5, handle: handles[0] ?? 0, listNamespaces: {} },
      { id: 6, authenticate: { tenantId: tenantIds[0] ?? '', keyId: 'key_1', key: `gk1_${'0'.repeat(81)}` } },
      // A handle of no tenant that is here: a peer may send any.
      { id: 8, handle: 4711, listNamespaces: {} },
      { id: 7, readPosition: { tenantId: tenantIds[1] ?? '', slot: 0 } },
      { id: 9, readPosition: { tenantId: 'ten_00000000000000000000000000', slot: 0 } },
      { id: 10, readPosition: { tenantId: 'any text', slot: 0 } },
    ],
  });
  await until(() => turns.waiting === 6);
  const [own, ofKind, ofNone, ofReader, ...foreign] = turns.keys;
  assert.deepEqual([own, ofReader], tenantIds);
  assert.match(ofKind ?? '', /^peer \d+ authenticate$/);
  const [peer = ''] = /^peer \d+/.exec(ofKind ?? '') ?? [];
  assert.equal(ofNone, peer);
  assert.deepEqual(foreign, [`${peer} readPosition`, `${peer} readPosition`]);
  turns.release(tenantIds[0]);
  assert.notEqual((await reply(5)).namespaces, null);
  turns.release();
  assert.notEqual((await reply(6)).failure, null);
});

test('checks under handles that a peer does not have are answered in slices of its own turns, and it is not read meanwhile', async (t) => {
  const { tenantIds, turns, handles, stream, next } = await setUp(t);
  const count = 1000;
  const column = <Value>(value: Value): Value[] => Array.from({ length: count }, () => value);
  stream.write({
    checks: {
      ids: Array.from({ length: count }, (_, index) => index + 10),
      handles: column(4711),
      subjects: column('user:ann'),
      relations: column(VIEWER),
      objects: column('doc:1'),
    },
  });
  await until(() => turns.waiting === 1);
  const [peer = ''] = turns.keys;
  assert.match(peer, /^peer \d+$/);
  stream.write({ checks: check(5, handles[0]) });
  const failed: number[] = [];
  for (let slice = 1; slice <= 4; slice += 1) {
    assert.deepEqual(turns.keys, [peer], 'it is not read before everything is answered');
    turns.release(peer);
    while (failed.length < 250 * slice) {
      const results = await next(({ checkResults }) => checkResults?.failed);
      assert.ok(results.every(({ failure }) => failure?.kind === FailureKind.FAILURE_HANDLE_UNKNOWN));
      failed.push(...results.map(({ id }) => id));
    }
    assert.equal(failed.length, 250 * slice);
  }
  await until(() => turns.keys[0] === tenantIds[0]);
  turns.release();
  assert.deepEqual((await next(({ checkResults }) => checkResults)).denied, [5]);
});

test('what waits counts among what a stream may have outstanding: more is refused', async (t) => {
  const { turns, handles, stream, next } = await setUp(t);
  const count = OUTSTANDING_MAX;
  const column = <Value>(value: Value): Value[] => Array.from({ length: count }, () => value);
  stream.write({
    checks: {
      ids: Array.from({ length: count }, (_, index) => index + 10),
      handles: column(handles[0] ?? 0),
      subjects: column('user:ann'),
      relations: column(VIEWER),
      objects: column('doc:1'),
    },
  });
  await until(() => turns.waiting === count);
  stream.write({ checks: check(9, handles[0]) });
  const refused = await next(({ checkResults }) => checkResults?.failed[0]);
  assert.equal(refused.id, 9);
  assert.equal(refused.failure?.kind, FailureKind.FAILURE_ERROR);
  assert.equal(turns.waiting, count);
});

test('a call that breaks the protocol fails alone when its turn comes', async (t) => {
  const { turns, handles, stream, next } = await setUp(t);
  const [handle = 0, other = 0] = handles;
  stream.write({
    calls: [
      { id: 5, handle, listObjects: { subject: 'user:ann', relation: 'viewer', limit: 0 } },
      { id: 6, handle: other, confirm: {} },
    ],
  });
  await until(() => turns.waiting === 2);
  turns.release();
  const [refused, fine] = await next(({ replies }) => (replies.length === 2 ? replies : undefined));
  assert.equal(refused?.failure?.code, 'internal');
  assert.ok(fine?.done);
});

test('what waits for a peer that is gone is dropped', async (t) => {
  const { shard, turns, handles, stream } = await setUp(t);
  let asked = 0;
  shard.onCheck = () => {
    asked += 1;
    return undefined;
  };
  stream.write({ checks: check(5, handles[0]) });
  await until(() => turns.waiting === 1);
  stream.cancel();
  await until(() => shard.connections.size === 0);
  turns.release();
  assert.equal(asked, 0);
  assert.equal(turns.waiting, 0);
});
