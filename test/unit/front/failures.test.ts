// A front while shards fail: what it asks meanwhile is bounded, one shard's trouble is not the others', and it goes on
// soon after the trouble has ended.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GrantdError } from '../../../src/core/errors.ts';
import { slotOfTenant } from '../../../src/core/slots.ts';
import type { Tuple } from '../../../src/core/tuples.ts';
import { createStaticDiscovery } from '../../../src/discovery/discovery.ts';
import { createFront } from '../../../src/front/create-front.ts';
import { systemClock, systemRandom } from '../../../src/roles/process/system.ts';
import { ShardFailure } from '../../../src/shard/shard.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { createCuttableTransport } from './cuttable-transport.ts';
import { contextFor, createStillClock, setStage, silentLog, until, watchStalls } from './harness.ts';

const tuple: Tuple = { subject: 'user:ann', relation: 'viewer', object: 'doc:1' };
const code = (expected: string) => (error: unknown) => error instanceof GrantdError && error.code === expected;
const notServing = (): never => {
  throw new ShardFailure('not-serving', 'The lease has ended.');
};

test('while an owner does not serve, one request asks for all, and all go on with its word', async (t) => {
  const stage = await setStage(t);
  const session = await stage.session();
  stage.shard.onCheck = notServing;
  const before = stage.shard.count('check');
  const requests = 2000;
  const waiting = Array.from({ length: requests }, () => session.check(contextFor(), tuple));
  await until(() => stage.shard.count('check') >= before + requests, 'the first tries');
  // Each probe follows the one before: three of them take a while in which thousands could have asked again.
  await until(() => stage.shard.count('check') >= before + requests + 3, 'probes');
  assert.ok(stage.shard.count('check') < before + requests + 20, `${stage.shard.count('check') - before}`);
  stage.shard.onCheck = undefined;
  // The lease is back: the shard says again what it serves.
  stage.shard.changed();
  for (const { authorized } of await Promise.all(waiting)) assert.equal(authorized, false);
  assert.ok(stage.shard.count('check') <= before + 2 * requests + 20);
});

test('an owner that serves again without a word is found out by the next probe', async (t) => {
  const stage = await setStage(t);
  const session = await stage.session();
  let refusals = 0;
  stage.shard.onCheck = () => {
    refusals += 1;
    return refusals > 505 ? undefined : notServing();
  };
  await Promise.all(Array.from({ length: 500 }, () => session.check(contextFor(), tuple)));
  // Five probes found it still refusing, the sixth was served, and all others went on with that one.
  assert.ok(refusals > 505 && refusals <= 1010, `${refusals}`);
});

test('requests whose pages cannot be read do not hold up the others of their slot', async (t) => {
  // Its time stands still: what waits for the end of a pause waits for ever.
  const clock = createStillClock();
  const stage = await setStage(t, { clock });
  const session = await stage.session();
  stage.shard.onCheck = (_, object) => (object === 'doc:cold' ? notServing() : undefined);
  const cold = Array.from({ length: 50 }, () =>
    assert.rejects(session.check(contextFor(600, clock), { ...tuple, object: 'doc:cold' }), code('unavailable')),
  );
  await until(() => stage.shard.count('check') === 50, 'the first tries');
  for (let round = 0; round < 50; round += 1) {
    assert.equal((await session.check(contextFor(600, clock), tuple)).authorized, false);
  }
  assert.equal(stage.shard.count('check'), 100);
  await clock.advance(600);
  await Promise.all(cold);
});

test('many keys of an owner that does not serve wait together, and are let go with their requests', async (t) => {
  const stage = await setStage(t);
  const keys = await Promise.all(Array.from({ length: 300 }, () => stage.world.createKey(stage.tenantId)));
  stage.shard.onCall = notServing;
  const authenticate = async (key: string, limitMs: number) => stage.front.authenticate(contextFor(limitMs), key);
  const waiting = keys.slice(0, 200).map((key) => authenticate(key, 20_000));
  const late = keys.slice(200).map((key) => assert.rejects(authenticate(key, 300), code('unavailable')));
  await until(() => stage.shard.count('authenticate') >= 305, 'probes');
  await Promise.all(late);
  assert.ok(stage.shard.count('authenticate') < 340, `${stage.shard.count('authenticate')}`);
  stage.shard.onCall = undefined;
  assert.equal((await Promise.all(waiting)).length, 200);
  // Those whose requests gave up are asked for again.
  assert.ok(await authenticate(keys[250] ?? '', 20_000));
});

test('a handover is latency and nothing else', async (t) => {
  // Its time stands still: all go on with the word of the new owner, and not after a pause that happens to end.
  const clock = createStillClock();
  const stage = await setStage(t, { shards: 2, clock });
  const [first, second] = stage.shards;
  assert.ok(first && second);
  await stage.world.grant(stage.tenantId, 'user:ann viewer doc:1');
  const session = await stage.session();
  const slot = slotOfTenant(stage.tenantId, stage.world.slots);
  let running = true;
  const answered = new Array<number>(32).fill(0);
  const loops = answered.map(async (_, index) => {
    for (let count = 0; running; count += 1) {
      const context = contextFor(undefined, clock);
      if (index % 4 === 0) {
        const object = `doc:${index}-${count}`;
        const [result] = await session.call('writeGrants', context, [{ ...tuple, object, revoke: false }]);
        assert.equal(result?.kind, 'created');
      } else {
        assert.equal((await session.check(context, tuple)).authorized, true);
      }
      answered[index] = (answered[index] ?? 0) + 1;
    }
  });
  for (let round = 0; round < 4; round += 1) {
    const [from, to, server] = round % 2 === 0 ? [first, second, stage.servers[1]] : [second, first, stage.servers[0]];
    // The old owner still has its route for a moment after it stopped serving: some are refused by it.
    let refused = 0;
    const refuse = (): never => {
      refused += 1;
      return notServing();
    };
    from.onCall = refuse;
    from.onCheck = refuse;
    await until(() => refused >= answered.length, 'all to wait');
    from.release([slot]);
    await until(() => !stage.front.ready(), 'the front to hear of it');
    const before = [...answered];
    from.onCall = undefined;
    from.onCheck = undefined;
    to.own([slot], server?.address);
    await until(() => answered.every((count, index) => count > (before[index] ?? 0) + 1), 'all to go on');
  }
  running = false;
  await Promise.all(loops);
});

test('a shard that joins again as another one serves on over the same connection', async (t) => {
  const stage = await setStage(t);
  const session = await stage.session();
  await session.check(contextFor(), tuple);
  const slots = [...stage.shard.epochs.keys()];
  // Declared dead: its tenures end, then it claims under a new incarnation.
  stage.shard.release(slots);
  const waiting = session.check(contextFor(), tuple);
  Object.assign(stage.shard, { incarnation: 'inc_next' });
  stage.shard.own(slots, stage.servers[0]?.address);
  assert.equal((await waiting).authorized, false);
  assert.equal(stage.shard.connections.size, 1);
});

test('a front cut off from one shard goes on with the others, and is back within 3 s', async (t) => {
  const network = createCuttableTransport();
  const stage = await setStage(t, { shards: 2, openStream: network.openStream });
  const [first, second] = stage.shards;
  assert.ok(first && second);
  const otherKey = await stage.world.createKey(await stage.world.createTenant([...second.epochs.keys()]));
  const sessions = [await stage.session(), await stage.front.authenticate(contextFor(), otherKey)] as const;
  const address = stage.servers[0]?.address ?? '';

  const stalledMs = watchStalls(t);
  let running = true;
  let refusals = 0;
  let slowestMs = 0;
  const limitMs = 700;
  const cutOff = Array.from({ length: 16 }, async () => {
    while (running) {
      const startedAtMs = performance.now();
      try {
        await sessions[0].check(contextFor(limitMs), tuple);
      } catch (error) {
        assert.ok(code('unavailable')(error), String(error));
        refusals += 1;
      }
      slowestMs = Math.max(slowestMs, performance.now() - startedAtMs);
    }
  });
  const rounds = new Array<number>(16).fill(0);
  const unharmed = rounds.map(async (_, index) => {
    while (running) {
      await sessions[1].check(contextFor(), tuple);
      rounds[index] = (rounds[index] ?? 0) + 1;
    }
  });
  network.cut(address);
  const cutAt = [...rounds];
  await until(() => refusals >= 64, 'the tenants of that shard to be refused');
  // Four times each of them has waited for all of its time. One of the others would have come as far if it waited, too.
  const roundsMeanwhile = rounds.map((count, index) => count - (cutAt[index] ?? 0));
  assert.ok(Math.min(...roundsMeanwhile) > 40, `${roundsMeanwhile}`);
  network.heal(address);
  const healedAtMs = performance.now();
  const before = first.count('check');
  await until(() => first.count('check') > before + 16, 'the shard to be reached again');
  const tookMs = performance.now() - healedAtMs;
  running = false;
  await Promise.all([...cutOff, ...unharmed]);
  assert.ok(tookMs < 3000 + stalledMs(), `back after ${tookMs} ms`);
  assert.ok(slowestMs < limitMs + 400 + stalledMs(), `a refusal took ${slowestMs} ms`);
});

test('what piles up for a shard that is silent is shed, oldest deadline first, and delays no other shard', async (t) => {
  const stage = await setStage(t, { shards: 2, front: { flightsMax: 100 } });
  const [first, second] = stage.shards;
  assert.ok(first && second);
  const otherKey = await stage.world.createKey(await stage.world.createTenant([...second.epochs.keys()]));
  const stuck = await stage.session();
  const healthy = await stage.front.authenticate(contextFor(), otherKey);
  first.onCheck = () => new Promise(() => {});
  const outcomes: string[] = [];
  const pile = Array.from({ length: 1000 }, (_, index) =>
    stuck.check(contextFor(1000), tuple).catch((error: unknown) => {
      outcomes.push(`${index < 900 ? 'old' : 'new'} ${error instanceof GrantdError ? error.code : error}`);
    }),
  );
  for (let round = 0; round < 50; round += 1) {
    assert.equal((await healthy.check(contextFor(), tuple)).authorized, false);
  }
  await Promise.all(pile);
  assert.ok(outcomes.slice(0, 900).every((outcome) => outcome === 'old overloaded'));
  const rest = outcomes.slice(900);
  assert.equal(rest.length, 100);
  assert.ok(rest.filter((outcome) => outcome === 'new unavailable').length >= 98, rest.join());
});

test('one shard that answers names the others, and a lost one is looked for', async (t) => {
  const network = createCuttableTransport();
  const stage = await setStage(t, {
    shards: 3,
    slots: 6,
    openStream: network.openStream,
    ready: false,
    addresses: ([first]) => [first?.address ?? ''],
  });
  const [first, second] = stage.shards;
  assert.ok(first && second);
  const members = stage.servers.map(({ address }, index) => ({ shardName: `shard-${index}`, address }));
  first.members = members.slice(1);
  first.changed();
  // No request is needed for it.
  await until(() => stage.front.ready(), 'the front to know all');
  // A shard that is reached already is not dialled under another address too.
  second.members = [{ shardName: 'shard-0', address: 'localhost:1' }];
  second.changed();
  const address = stage.servers[1]?.address ?? '';
  network.cut(address);
  await until(() => !stage.front.ready(), 'the loss');
  network.heal(address);
  await until(() => stage.front.ready(), 'the shard to be found again');
  assert.equal(await connections('connecting'), 0);
  assert.equal(await connections('ready'), 3);

  async function connections(state: string): Promise<number> {
    const { values } = await stage.metrics.frontShardConnections.get();
    return values.find(({ labels }) => labels.state === state)?.value ?? 0;
  }
});

test('a write that an owner may have committed before it stopped serving is never said not to have happened', async (t) => {
  const stage = await setStage(t, { front: { flightsMax: 1 } });
  const session = await stage.session();
  stage.shard.afterWrite = notServing;
  const unknown = (error: unknown) =>
    error instanceof GrantdError && error.code === 'unavailable' && /outcome is unknown/.test(error.message);
  const late = session.call('writeGrants', contextFor(1000), [{ ...tuple, revoke: false }]);
  await assert.rejects(late, unknown);
  const shed = session.call('writeGrants', contextFor(20_000), [{ ...tuple, revoke: false }]);
  const tries = stage.shard.count('writeGrants');
  await until(() => stage.shard.count('writeGrants') > tries + 1);
  stage.shard.onCheck = () => new Promise(() => {});
  const newer = assert.rejects(session.check(contextFor(25_000), tuple), code('unavailable'));
  await assert.rejects(shed, unknown);
  await stage.front.close();
  await newer;
});

test('a write whose outcome an owner could not tell is never said to have been refused, whatever the next try meets', async (t) => {
  const stage = await setStage(t);
  const unknown = (error: unknown) =>
    error instanceof GrantdError && error.code === 'unavailable' && /outcome is unknown/.test(error.message);
  for (const refusal of ['unauthorized', 'tenant-suspended', 'tenant-not-found'] as const) {
    const session = await stage.session();
    let tries = 0;
    stage.shard.onCall = (name) => {
      if (name === 'writeGrants' && tries > 0) throw new GrantdError(refusal, 'Refused at the door.');
    };
    stage.shard.afterWrite = () => {
      tries += 1;
      throw new ShardFailure('undecided', 'The tenure ended while the write was in flight.');
    };
    await assert.rejects(session.call('writeGrants', contextFor(), [{ ...tuple, revoke: false }]), unknown);
    assert.equal(tries, 1);
    stage.shard.onCall = undefined;
    stage.shard.afterWrite = undefined;
  }
});

test('a creation whose outcome is not known is said to create a second one when it is repeated; other writes are safe', async (t) => {
  const stage = await setStage(t, { front: { peer: 'console' } });
  const session = await stage.session();
  stage.shard.afterWrite = notServing;
  const says = (message: RegExp) => (error: unknown) =>
    error instanceof GrantdError && error.code === 'unavailable' && message.test(error.message);
  const second = says(/outcome is unknown\. Repeating the call may create a second one/);
  const key = { name: 'ci', scopes: 1, expiresAtMs: undefined };
  const tenant = { name: 'Acme', plan: 'free', operator: 'ann' };
  const outcomes = [
    assert.rejects(session.createKey(contextFor(), key), second),
    assert.rejects(stage.front.operator.createTenant(contextFor(), tenant), second),
    assert.rejects(
      session.call('writeGrants', contextFor(), [{ ...tuple, revoke: false }]),
      says(/outcome is unknown\. Repeating the call is safe/),
    ),
  ];
  const calls = ['createKey', 'createTenant', 'writeGrants'] as const;
  await until(() => calls.every((call) => stage.shard.count(call) > 0), 'the first tries');
  // Any end will do: the shard has done what it was asked for, and has said that it has not.
  await stage.front.close();
  await Promise.all(outcomes);
});

test('a front that has reached no shard yet says in its metrics that no stream is ready', async () => {
  const metrics = createMetrics();
  const discovery = createStaticDiscovery([]);
  const front = createFront(
    { discovery, clock: systemClock, random: systemRandom, log: silentLog, metrics },
    { name: 'test', peer: 'front' },
  );
  assert.match(await metrics.render(), /^grantd_front_shard_connections\{state="ready"\} 0$/m);
  await front.close();
});
