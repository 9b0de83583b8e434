// A call that the shard cannot read, through a front: it fails, and nothing else does.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MESSAGE_BYTES_MAX } from '../../../src/rpc/protocol.ts';
import { contextFor, setStage } from './harness.ts';

const READABLE = { filter: {}, limit: 10, waitMs: 0 };
/** The APIs refuse such a name, and so does the shard. */
const UNREADABLE = { ...READABLE, filter: { namespaces: ['x'.repeat(300)] } };

test('a call that the shard cannot read fails at once, is not repeated, and leaves the stream to the others', async (t) => {
  const stage = await setStage(t);
  const { shard, front, metrics } = stage;
  const session = await stage.session();
  const neighbour = await front.authenticate(
    contextFor(),
    await stage.world.createKey(await stage.world.createTenant()),
  );
  const asked = await Promise.allSettled([
    neighbour.checkBulk(contextFor(), [{ subject: 'user:a', relation: 'viewer', object: 'doc:1' }]),
    session.readChanges(contextFor(), UNREADABLE),
    neighbour.check(contextFor(), { subject: 'user:a', relation: 'viewer', object: 'doc:1' }),
  ]);
  assert.deepEqual(
    asked.map((outcome) => (outcome.status === 'fulfilled' ? 'answered' : outcome.reason.code)),
    ['answered', 'internal', 'answered'],
  );
  assert.equal(shard.connections.size, 1);
  const { values } = await stage.shardMetrics.malformedCalls.get();
  assert.deepEqual(
    values.filter(({ value }) => value > 0),
    [{ labels: { call: 'readChanges' }, value: 1 }],
  );
  assert.deepEqual((await metrics.frontRetries.get()).values, []);
});

test('a call that no message can hold fails before it is sent', async (t) => {
  const stage = await setStage(t);
  const session = await stage.session();
  const name = 'x'.repeat(MESSAGE_BYTES_MAX);
  await assert.rejects(session.call('createNamespace', contextFor(), name), { code: 'internal' });
  await session.readChanges(contextFor(), READABLE);
  assert.equal(stage.shard.connections.size, 1);
  assert.deepEqual((await stage.metrics.frontRetries.get()).values, []);
});
