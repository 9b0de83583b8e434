// A front before shards: coalescing, handles, retries, deadlines. Over real gRPC.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseApiKey } from '../../../src/core/api-keys.ts';
import { GrantdError } from '../../../src/core/errors.ts';
import { problemOf } from '../../../src/core/problem.ts';
import type { Tuple } from '../../../src/core/tuples.ts';
import type { OperatorTenantSession } from '../../../src/front/front.ts';
import { systemClock } from '../../../src/roles/process/system.ts';
import { ShardFailure } from '../../../src/shard/shard.ts';
import { TWO_NAMESPACES } from '../../kit/scripted-shard.ts';
import { contextFor, ids, setStage, until, watchStalls } from './harness.ts';

const tuple = (object: string): Tuple => ({ subject: 'user:ann', relation: 'viewer', object });
const PUBLISHED = { errorsBase: 'https://example.test/errors', requestId: 'req_1' };
const code = (expected: string) => (error: unknown) => error instanceof GrantdError && error.code === expected;

test('answers checks from the owner, allow and deny alike', async (t) => {
  const stage = await setStage(t);
  await stage.world.grant(stage.tenantId, 'user:ann viewer doc:1');
  const session = await stage.session();
  const askedAtMs = Date.now();
  const allowed = await session.check(contextFor(), tuple('doc:1'));
  assert.equal(allowed.authorized, true);
  assert.ok(allowed.checkedAtMs >= askedAtMs && allowed.checkedAtMs <= Date.now(), `${allowed.checkedAtMs}`);
  assert.equal((await session.check(contextFor(), tuple('doc:2'))).authorized, false);
  const bulk = await session.checkBulk(contextFor(), [tuple('doc:2'), tuple('doc:1')]);
  assert.deepEqual(bulk.authorized, [false, true]);
  assert.deepEqual((await session.checkBulk(contextFor(), [])).authorized, []);
});

test('a known key is authenticated at once, and one handle serves all its requests', async (t) => {
  const stage = await setStage(t);
  const first = stage.front.authenticate(contextFor(), stage.key);
  const second = stage.front.authenticate(contextFor(), stage.key);
  assert.ok(first instanceof Promise && second instanceof Promise);
  const session = await first;
  assert.equal(await second, session);
  assert.equal(stage.front.authenticate(contextFor(), stage.key), session);
  assert.equal(session.plan, 'free');
  assert.equal(session.tenantId, stage.tenantId);
  await Promise.all([session.check(contextFor(), tuple('doc:1')), session.confirm(contextFor())]);
  assert.equal(stage.shard.count('authenticate'), 1);
});

test('junk keys, truncated keys and keys with a broken checksum cause no call', async (t) => {
  const stage = await setStage(t);
  const flipped = `${stage.key.slice(0, -1)}${stage.key.endsWith('a') ? 'b' : 'a'}`;
  for (const junk of ['', 'x', 'gk1_', stage.key.slice(0, -1), flipped, `${stage.key}0`, stage.key.toUpperCase()]) {
    assert.throws(() => stage.front.authenticate(contextFor(), junk), code('unauthorized'), junk);
  }
  assert.equal(stage.shard.count('authenticate'), 0);
});

test('an unknown key is refused each time again, and nothing of it is kept', async (t) => {
  const stage = await setStage(t);
  const key = await stage.world.createKey(stage.tenantId, { hash: '0'.repeat(64) });
  for (let tries = 1; tries <= 3; tries += 1) {
    await assert.rejects(async () => stage.front.authenticate(contextFor(), key), code('unauthorized'));
    assert.equal(stage.shard.count('authenticate'), tries);
  }
});

test('the checks of one turn travel in one message', async (t) => {
  const stage = await setStage(t);
  const session = await stage.session();
  const before = await batches();
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => session.check(contextFor(), tuple(`doc:${index}`))),
  );
  assert.equal(answers.length, 50);
  const after = await batches();
  assert.equal(after.count - before.count, 1);
  assert.equal(after.sum - before.sum, 50);

  async function batches(): Promise<{ count: number; sum: number }> {
    const { values } = await stage.metrics.streamBatchChecks.get();
    const sample = (suffix: string) => values.find(({ metricName }) => metricName?.endsWith(suffix))?.value ?? 0;
    return { count: sample('_count'), sum: sample('_sum') };
  }
});

test('answers come in any order: a slow check delays no other', async (t) => {
  const stage = await setStage(t);
  await stage.world.grant(stage.tenantId, 'user:ann viewer doc:fast');
  const session = await stage.session();
  const slow = Promise.withResolvers<boolean>();
  stage.shard.onCheck = (_, object) => (object === 'doc:slow' ? slow.promise : undefined);
  let slowAnswered = false;
  const late = session.check(contextFor(), tuple('doc:slow')).finally(() => {
    slowAnswered = true;
  });
  assert.equal((await session.check(contextFor(), tuple('doc:fast'))).authorized, true);
  assert.equal((await session.check(contextFor(), tuple('doc:other'))).authorized, false);
  assert.equal(slowAnswered, false);
  slow.resolve(true);
  assert.equal((await late).authorized, true);
});

test('a handle that is gone is acquired again, once for all who found it gone', async (t) => {
  const stage = await setStage(t);
  await stage.world.grant(stage.tenantId, 'user:ann viewer doc:1');
  const session = await stage.session();
  await stage.world.update(stage.tenantId, { state: 'suspended' });
  await stage.world.update(stage.tenantId, { state: 'active', plan: 'scale' });
  const answers = await Promise.all(Array.from({ length: 20 }, () => session.check(contextFor(), tuple('doc:1'))));
  assert.ok(answers.every(({ authorized }) => authorized));
  assert.equal(stage.shard.count('authenticate'), 2);
  assert.equal(session.plan, 'scale');
});

test('a key revoked at the owner is refused from then on, and forgotten', async (t) => {
  const stage = await setStage(t);
  const session = await stage.session();
  const other = await stage.front.authenticate(contextFor(), await stage.world.createKey(stage.tenantId));
  await other.call('revokeKey', contextFor(), parseApiKey(stage.key)?.keyId ?? assert.fail());
  await assert.rejects(session.check(contextFor(), tuple('doc:1')), code('unauthorized'));
  await assert.rejects(session.confirm(contextFor()), code('unauthorized'));
  await assert.rejects(async () => stage.front.authenticate(contextFor(), stage.key), code('unauthorized'));
  await other.confirm(contextFor());
});

test('a suspended tenant is refused, by the owner as well, until the owner says otherwise', async (t) => {
  const stage = await setStage(t);
  await stage.world.grant(stage.tenantId, 'user:ann viewer doc:1');
  const session = await stage.session();
  await stage.world.update(stage.tenantId, { state: 'suspended' });
  await assert.rejects(session.check(contextFor(), tuple('doc:1')), code('tenant-suspended'));
  await assert.rejects(session.call('listNamespaces', contextFor(), undefined), code('tenant-suspended'));
  const confirmed = stage.shard.count('confirm');
  await assert.rejects(session.confirm(contextFor()), code('tenant-suspended'));
  assert.equal(stage.shard.count('confirm'), confirmed + 1, 'the owner is asked');
  assert.equal(session.suspended, true);
  assert.equal(stage.front.authenticate(contextFor(), stage.key), session);
  await stage.world.update(stage.tenantId, { state: 'active' });
  assert.equal((await session.check(contextFor(), tuple('doc:1'))).authorized, true);
  assert.equal(session.suspended, false);
});

test('the owner alone says that a key has ended, whatever the clock of the front says', async (t) => {
  const time = { aheadMs: 0 };
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + time.aheadMs };
  const stage = await setStage(t, { clock });
  const lastsMs = 60_000;
  const key = await stage.world.createKey(stage.tenantId, { expiresAtMs: Date.now() + lastsMs });
  const open = async () => stage.front.authenticate(contextFor(20_000, clock), key);
  const ask = async () => (await open()).check(contextFor(20_000, clock), tuple('doc:1'));
  assert.equal((await ask()).authorized, false);
  time.aheadMs = 2 * lastsMs;
  assert.equal((await open()).expired, true);
  assert.equal((await ask()).authorized, false);
  stage.world.pass(lastsMs);
  await assert.rejects(ask(), code('unauthorized'));
  await assert.rejects(ask(), code('unauthorized'), 'also where nothing is known about it');
});

test('a key that has ended is forgotten once it is refused, also if the log says so already', async (t) => {
  const stage = await setStage(t);
  const lastsMs = 60_000;
  const key = await stage.world.createKey(stage.tenantId, { expiresAtMs: Date.now() + lastsMs });
  const session = await stage.front.authenticate(contextFor(), key);
  await session.confirm(contextFor());
  stage.world.pass(lastsMs);
  await stage.world.grant(stage.tenantId, 'user:ann viewer doc:1');
  await assert.rejects(session.check(contextFor(), tuple('doc:1')), code('unauthorized'));
  const authenticated = stage.shard.count('authenticate');
  await assert.rejects(async () => stage.front.authenticate(contextFor(), key), code('unauthorized'));
  assert.equal(stage.shard.count('authenticate'), authenticated + 1);
});

test('a key does not end by the wall clock of a front', async (t) => {
  const hourMs = 3_600_000;
  const stage = await setStage(t, { clock: { ...systemClock, wallMs: () => systemClock.wallMs() + hourMs } });
  const key = await stage.world.createKey(stage.tenantId, { expiresAtMs: Date.now() + hourMs / 2 });
  const session = await stage.front.authenticate(contextFor(), key);
  await session.confirm(contextFor());
  assert.equal(stage.front.authenticate(contextFor(), key), session);
});

test('a failure of the catalogue is final and crosses as it is', async (t) => {
  const stage = await setStage(t);
  const session = await stage.session();
  await assert.rejects(
    session.call('revokeKey', contextFor(), ids.create('key')),
    (error) =>
      error instanceof GrantdError &&
      error.code === 'key-not-found' &&
      error.message === 'The tenant has no live API key with this id.',
  );
  assert.equal(stage.shard.count('revokeKey'), 1);
  stage.shard.onCheck = () => {
    throw new Error('a defect with a secret');
  };
  await assert.rejects(
    session.check(contextFor(), tuple('doc:1')),
    (error) => error instanceof GrantdError && error.code === 'internal' && !error.message.includes('secret'),
  );
});

test('what cannot be decided by the deadline is unavailable, never a deny', async (t) => {
  const stage = await setStage(t);
  const session = await stage.session();
  stage.shard.onCheck = () => {
    throw new ShardFailure('not-serving', 'Opening.');
  };
  const stalledMs = watchStalls(t);
  const limitMs = 1000;
  const startedAtMs = performance.now();
  await assert.rejects(
    session.check(contextFor(limitMs), tuple('doc:1')),
    (error) => code('unavailable')(error) && Number(problemOf(error, PUBLISHED).headers['Retry-After']) >= 1,
  );
  const tookMs = performance.now() - startedAtMs;
  assert.ok(tookMs >= limitMs - 1 && tookMs < 2 * limitMs + stalledMs(), `${tookMs}`);
  assert.ok(stage.shard.count('check') >= 3, 'it was tried again');

  stage.shard.onCheck = () => new Promise(() => {});
  await assert.rejects(session.check(contextFor(200), tuple('doc:1')), code('unavailable'));

  stage.shard.onCall = () => new Promise(() => {});
  await assert.rejects(
    session.call('writeGrants', contextFor(1000), [{ ...tuple('doc:1'), revoke: false }]),
    (error) => error instanceof GrantdError && error.code === 'unavailable' && /unknown.*safe/.test(error.message),
  );
});

test('a write keeps its operation over all tries: the first result is the answer', async (t) => {
  const stage = await setStage(t);
  const session = await stage.session();
  let failures = 2;
  stage.shard.afterWrite = () => {
    failures -= 1;
    if (failures >= 0) throw new ShardFailure('not-serving', 'Lost the lease after the commit.');
  };
  const context = contextFor();
  const results = await session.call('writeGrants', context, [{ ...tuple('doc:1'), revoke: false }]);
  assert.equal(results[0]?.kind, 'created');
  assert.equal(stage.shard.count('writeGrants'), 3);
  assert.equal(stage.shard.lastAttempt?.requestId, context.requestId);
  await stage.world.update(stage.tenantId, { plan: TWO_NAMESPACES.name });
  const again = await session.call('writeGrants', contextFor(), [
    { ...tuple('doc:1'), revoke: false },
    { ...tuple('third:1'), revoke: false },
    { ...tuple('doc:1'), revoke: true },
    { ...tuple('doc:1'), revoke: true },
  ]);
  assert.deepEqual(
    again.map(({ kind }) => kind),
    ['exists', 'refused', 'revoked', 'not-found'],
  );
});

test('an attempt expires by the shard’s clock not after the deadline', async (t) => {
  const stage = await setStage(t, { ready: false });
  const aheadMs = 5_000_000;
  stage.world.pass(aheadMs);
  await until(() => stage.front.ready());
  const session = await stage.session();
  const context = contextFor();
  await session.call('createNamespace', context, 'docs');
  const onOurClockMs = (stage.shard.lastAttempt?.expiresAtMs ?? 0) - aheadMs;
  assert.ok(onOurClockMs <= context.deadlineMs, `${onOurClockMs} > ${context.deadlineMs}`);
  // The clocks are an hour apart, and the deadline is seconds away.
  assert.ok(onOurClockMs > context.deadlineMs - 10_000, `${onOurClockMs} is much before ${context.deadlineMs}`);
});

test('an attempt that came too late is made again while the deadline allows', async (t) => {
  const stage = await setStage(t);
  const session = await stage.session();
  let first = true;
  stage.shard.onCall = () => {
    if (!first) return;
    first = false;
    throw new ShardFailure('expired', 'Too late.');
  };
  assert.equal((await session.call('createNamespace', contextFor(), 'docs')).created, true);
});

test('what only the operator may ask is refused to a front', async (t) => {
  const stage = await setStage(t);
  // No type gives the session of a key these calls.
  const session = (await stage.session()) as OperatorTenantSession;
  await assert.rejects(
    session.call('exportGrants', contextFor(), { limit: 1, cursor: undefined }),
    code('insufficient-scope'),
  );
  await assert.rejects(stage.front.operator.tenant(contextFor(), stage.tenantId, 'ann'), code('insufficient-scope'));
  await assert.rejects(stage.front.operator.listSlots(contextFor()), code('insufficient-scope'));
  assert.equal(stage.shard.count('exportGrants') + stage.shard.count('listSlots'), 0);
});

test('above its bound the front sheds the request with the oldest deadline', async (t) => {
  const stage = await setStage(t, { front: { flightsMax: 10 } });
  const session = await stage.session();
  const slow = Promise.withResolvers<boolean>();
  stage.shard.onCheck = () => slow.promise;
  const held = Array.from({ length: 10 }, (_, index) => session.check(contextFor(20_000 + index), tuple('doc:1')));
  await assert.rejects(session.check(contextFor(10_000), tuple('doc:1')), code('overloaded'));
  const newest = session.check(contextFor(30_000), tuple('doc:1'));
  await assert.rejects(held[0] ?? assert.fail(), code('overloaded'));
  slow.resolve(true);
  const answers = await Promise.all([...held.slice(1), newest]);
  assert.ok(answers.every(({ authorized }) => authorized));
});

test('a front that is closing refuses and ends what is in flight', async (t) => {
  const stage = await setStage(t);
  const session = await stage.session();
  stage.shard.onCheck = () => new Promise(() => {});
  const held = session.check(contextFor(), tuple('doc:1'));
  await until(() => stage.shard.count('check') === 1);
  await Promise.all([assert.rejects(held, code('unavailable')), stage.front.close()]);
  await assert.rejects(session.check(contextFor(), tuple('doc:1')), code('unavailable'));
});
