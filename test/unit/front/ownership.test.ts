// A front while slots change owners and connections break: it looks like latency, not like errors.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GrantdError } from '../../../src/core/errors.ts';
import { slotOfTenant } from '../../../src/core/slots.ts';
import type { Tuple } from '../../../src/core/tuples.ts';
import { ScriptedShard } from '../../kit/scripted-shard.ts';
import { startTcpLink } from '../../kit/tcp-link.ts';
import { contextFor, serve, setStage, until, watchStalls } from './harness.ts';

const tuple: Tuple = { subject: 'user:ann', relation: 'viewer', object: 'doc:1' };
const code = (expected: string) => (error: unknown) => error instanceof GrantdError && error.code === expected;

test('a wrong owner’s word leads to a shard that discovery does not name', async (t) => {
  const stage = await setStage(t, { shards: 2, ready: false, addresses: ([first]) => [first?.address ?? ''] });
  const [first, second] = stage.shards;
  assert.ok(first && second);
  await stage.world.grant(stage.tenantId, 'user:ann viewer doc:1');
  const session = await stage.session();
  assert.equal(stage.front.ready(), false);
  const slot = slotOfTenant(stage.tenantId, stage.world.slots);
  // The first owner says nothing of its own accord, so that the front hears of the move only in an answer.
  first.release([slot], true);
  second.own([slot], stage.servers[1]?.address);
  assert.equal((await session.check(contextFor(), tuple)).authorized, true);
  assert.equal(second.count('check'), 1);
  await until(() => stage.front.ready(), 'the front, now that it knows both shards');
});

test('a request for a slot without an owner waits for one', async (t) => {
  const stage = await setStage(t);
  const session = await stage.session();
  const slots = [...stage.shard.epochs.keys()];
  stage.shard.release(slots);
  await until(() => !stage.front.ready());
  await assert.rejects(session.check(contextFor(150), tuple), code('unavailable'));
  const waiting = session.check(contextFor(), tuple);
  const slot = slotOfTenant(stage.tenantId, stage.world.slots);
  await until(() => stage.shard.reports.some(({ awaited }) => awaited.join() === `${slot}`), 'what it waits for');
  stage.shard.own(slots, stage.servers[0]?.address);
  assert.equal((await waiting).authorized, false);
});

test('before any shard is heard, a first authentication waits, then is unavailable', async (t) => {
  const stage = await setStage(t, { ready: false, addresses: () => ['127.0.0.1:1', 'no address'] });
  await assert.rejects(async () => stage.front.authenticate(contextFor(200), stage.key), code('unavailable'));
  assert.equal(stage.front.ready(), false);
});

test('a broken connection is dialled again and what was in flight is asked again', async (t) => {
  let proxy: Awaited<ReturnType<typeof startTcpLink>> | undefined;
  const setting = await setStage(t);
  proxy = await startTcpLink(setting.servers[0]?.address ?? '', t);
  const stage = await setStage(t, { addresses: () => [proxy?.address ?? ''], ready: false });
  // The second stage's front reaches the first stage's shard.
  await until(() => stage.front.ready());
  const session = await stage.front.authenticate(contextFor(), setting.key);
  await setting.world.grant(setting.tenantId, 'user:ann viewer doc:1');
  const slow = Promise.withResolvers<boolean>();
  setting.shard.onCheck = () => slow.promise;
  const held = session.check(contextFor(), tuple);
  await until(() => setting.shard.count('check') === 1);
  setting.shard.onCheck = undefined;
  proxy.cut();
  assert.equal((await held).authorized, true);
  assert.equal(setting.shard.count('authenticate'), 2);
  await until(() => setting.shard.count('close') === 1, 'the end of the first stream’s handles');
  slow.resolve(false);
});

test('a connection that swallows everything is noticed within 2 s and replaced', async (t) => {
  const setting = await setStage(t);
  const proxy = await startTcpLink(setting.servers[0]?.address ?? '', t);
  const stage = await setStage(t, { addresses: () => [proxy.address], ready: false });
  await until(() => stage.front.ready());
  await setting.world.grant(setting.tenantId, 'user:ann viewer doc:1');
  const session = await stage.front.authenticate(contextFor(), setting.key);
  await session.check(contextFor(), tuple);
  const stalledMs = watchStalls(t);
  proxy.swallow();
  const startedAtMs = performance.now();
  const answer = session.check(contextFor(), tuple);
  await until(() => !stage.front.ready(), 'the front to notice');
  const noticedMs = performance.now() - startedAtMs;
  assert.ok(noticedMs < 2000 + stalledMs(), `${noticedMs}`);
  assert.equal((await answer).authorized, true);
  assert.ok(proxy.opened() >= 2, `${proxy.opened()}`);
  // The other end notices too, and lets the handles go.
  await until(() => setting.shard.count('close') >= 1, 'the shard to notice');
});

test('a shard that closes answers what it has and the front goes on with its successor', async (t) => {
  const stage = await setStage(t);
  await stage.world.grant(stage.tenantId, 'user:ann viewer doc:1');
  const session = await stage.session();
  const [server] = stage.servers;
  assert.ok(server);
  const slow = Promise.withResolvers<boolean>();
  stage.shard.onCheck = () => slow.promise;
  const held = session.check(contextFor(), tuple);
  await until(() => stage.shard.count('check') === 1);
  const closed = server.close();
  slow.resolve(true);
  assert.equal((await held).authorized, true);
  assert.equal(stage.shard.count('check'), 1, 'the answer came before the stream ended');
  await closed;
  const next = new ScriptedShard(stage.world, 'shard-0');
  next.own([...stage.shard.epochs.keys()], server.address);
  const waiting = session.check(contextFor(), tuple);
  await serve(t, next, server.address);
  assert.equal((await waiting).authorized, true);
});

test('a shard of a cluster with another number of slots is refused by either end', async (t) => {
  const stage = await setStage(t);
  const session = await stage.session();
  const slot = slotOfTenant(stage.tenantId, stage.world.slots);
  const foreign = new ScriptedShard(stage.world, 'foreign');
  const server = await serve(t, foreign);
  stage.shard.release([slot], true);
  foreign.own([slot], server.address);
  // The shard refuses the hello, which names the slots of the front's cluster.
  foreign.welcomeSlots = 8;
  await assert.rejects(session.check(contextFor(300), tuple), code('unavailable'));
  assert.equal(foreign.connections.size, 0);
  // A shard that changes its mind after the hello is refused by the front.
  let asked = 0;
  foreign.welcome = () => {
    asked += 1;
    return { ...stage.shard.welcome(), slots: asked % 2 === 1 ? 4 : 8 };
  };
  await until(() => foreign.connections.size > 0, 'the front to dial again');
  await assert.rejects(session.check(contextFor(300), tuple), code('unavailable'));
  assert.equal(foreign.count('authenticate'), 0);
});

test('a shard of a cluster with a shorter deadline than the front waits for is not used', async (t) => {
  const stage = await setStage(t, { front: { deadlineMs: 10_000 } });
  const session = await stage.session();
  const slot = slotOfTenant(stage.tenantId, stage.world.slots);
  const hasty = new ScriptedShard(stage.world, 'hasty');
  const server = await serve(t, hasty);
  stage.shard.release([slot], true);
  hasty.own([slot], server.address);
  hasty.welcome = () => ({ ...stage.shard.welcome(), deadlineMs: 5000 });
  await assert.rejects(session.check(contextFor(300), tuple), code('unavailable'));
  assert.equal(hasty.count('authenticate'), 0);
});
