// Whose clock is right: one that is wrong harms nobody else, whosever it is; and a clock that jumps tells no log a time
// beyond the bound, from the very next use on.

import assert from 'node:assert/strict';
import { beforeEach, describe, it, test } from 'node:test';
import { Membership } from '../../../../src/shard/ownership/membership.ts';
import { ClockWatch, referenceOf, WallClock } from '../../../../src/shard/ownership/wall-clock.ts';
import { createLog } from '../../../../src/telemetry/log.ts';
import { MemoryStore } from '../../../kit/store/memory-store.ts';
import { createRecordingLog } from '../../../kit/store/store-directory.ts';
import { createMember } from '../../../kit/store/store-fixtures.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;
const BOUND_MS = 10_000;
const log = createLog({ level: 'silent', pretty: false });

describe('the reference', () => {
  const cases: readonly [what: string, own: number, members: number[], nodes: number[], reference: number][] = [
    ['is the own clock if there is no other', 7, [], [], 7],
    ['is the store of two', HOUR_MS, [], [0], 0],
    ['is not the one member that is wrong', 0, [HOUR_MS, 0], [0], 0],
    ['is not the one node that is wrong', 0, [0, 0], [HOUR_MS], 0],
    ['is not the one node of three that is wrong', HOUR_MS, [], [0, -HOUR_MS, 0], 0],
    ['is not the own clock where all others agree', HOUR_MS, [0, 0], [0, 0, 0], 0],
    ['has the store with it if two halves disagree', HOUR_MS, [HOUR_MS, 0], [0], 0],
    ['has the store with it, also where that is the half of this process', 0, [HOUR_MS], [0], 0],
    ['is what most say, also if they are wrong', 0, [HOUR_MS, HOUR_MS, HOUR_MS], [0], HOUR_MS],
  ];
  for (const [what, ownMs, members, nodes, reference] of cases) {
    it(what, () => assert.equal(referenceOf({ ownMs, members, nodes }), reference));
  }

  it('leaves every right shard in place, whichever single clock is wrong, and takes the wrong one out', () => {
    for (let shards = 2; shards <= 5; shards += 1) {
      for (let nodes = 1; nodes <= 3; nodes += 1) {
        for (let wrong = 0; wrong < shards + nodes; wrong += 1) {
          const clocks = Array.from({ length: shards + nodes }, (_, each) => (each === wrong ? HOUR_MS : 0));
          for (let own = 0; own < shards; own += 1) {
            const members = clocks.slice(0, shards).filter((_, each) => each !== own);
            const ownMs = clocks[own] ?? 0;
            assert.equal(referenceOf({ ownMs, members, nodes: clocks.slice(shards) }), 0);
          }
        }
      }
    }
  });
});

describe('a clock that is compared', () => {
  let clock: VirtualClock;
  let store: MemoryStore;
  let wall: WallClock;
  let membership: Membership;
  let watch: ClockWatch;
  let node: { skewMs: number };

  beforeEach(() => {
    clock = new VirtualClock();
    store = new MemoryStore({ clock });
    const startMs = clock.wallOffsetMs;
    node = { skewMs: 0 };
    store.nodeClock = () => ({ node: '10.0.0.1', wallMs: Math.floor(clock.monotonicMs() + startMs + node.skewMs) });
    wall = new WallClock(clock, BOUND_MS);
    membership = new Membership({ store, clock, log }, { leaseMs: 3000 });
    const members = () => membership.clocksOf('inc_own');
    watch = new ClockWatch({ clock, wall, store, log, members, alone: false });
  });

  it('is not right before the store has answered, and says so', async () => {
    store.nodeClock = () => {
      throw new Error('The node is down.');
    };
    await watch.lookAtStore();
    await clock.advance(60_000);
    await watch.look();
    assert.deepEqual([wall.right, wall.agrees], [false, false]);
    assert.match(watch.problem ?? '', /not been compared/);
  });

  it('says nothing in the log while the store is silent: the clock may be right', async () => {
    const recorded = createRecordingLog();
    store.nodeClock = () => {
      throw new Error('The node is down.');
    };
    watch = new ClockWatch({ clock, wall, store, log: recorded, members: () => [], alone: false });
    await watch.look();
    assert.equal(wall.right, false);
    assert.deepEqual(recorded.lines, []);
  });

  it('is not right before the members that send heartbeats were compared', async () => {
    const member = createMember({ incarnation: 'inc_other', shardName: 'shard-2', heartbeat: 1 });
    await store.insertMember(member, Number.POSITIVE_INFINITY);
    const beat = async (heartbeat: number, skewMs: number) => {
      const next = { incarnation: 'inc_other', expectedHeartbeat: heartbeat - 1, heartbeat, healthyHeartbeat: 0 };
      const wallMs = clock.wallMs() + skewMs;
      await store.writeHeartbeat({ ...next, wallMs, state: 'alive' }, Number.POSITIVE_INFINITY);
    };
    await watch.lookAtStore();
    assert.deepEqual([wall.agrees, wall.right], [true, false]);
    await membership.scan();
    await watch.look();
    assert.equal(wall.right, false, 'when the heartbeat was sent is not known');
    await clock.advance(500);
    await beat(2, HOUR_MS);
    await membership.scan();
    await watch.look();
    assert.equal(wall.right, false, 'the heartbeat may have been long on its way');
    await clock.advance(500);
    await beat(3, HOUR_MS);
    await membership.scan();
    await watch.look();
    assert.equal(wall.right, true, 'the store is with it');
    assert.ok(Math.abs(watch.differencesMs.member + HOUR_MS) < 1000, 'the other is an hour ahead');
    node.skewMs = HOUR_MS;
    await watch.look();
    assert.equal(wall.right, false);
    assert.match(watch.problem ?? '', /differs by -3600 s from shard-2, the store at 10\.0\.0\.1/);
    await beat(4, 0);
    await clock.advance(500);
    await beat(5, 0);
    await membership.scan();
    await watch.look();
    assert.equal(wall.right, true, 'the one node of the store is wrong');
    assert.ok(Math.abs(watch.differencesMs.store + HOUR_MS) < 1000);
  });

  it('is not compared with heartbeats that were sent before an outage of the store and are stored after it', async () => {
    const names = ['a', 'b', 'c'];
    const insert = (name: string) => createMember({ incarnation: `inc_${name}`, shardName: name, heartbeat: 1 });
    for (const name of names) await store.insertMember(insert(name), Number.POSITIVE_INFINITY);
    const sentMs = clock.wallMs();
    await clock.advance(20_000);
    await watch.lookAtStore();
    await membership.scan();
    await clock.advance(250);
    for (const name of names) {
      const late = { incarnation: `inc_${name}`, expectedHeartbeat: 1, heartbeat: 2, healthyHeartbeat: 0 };
      await store.writeHeartbeat({ ...late, wallMs: sentMs, state: 'alive' }, Number.POSITIVE_INFINITY);
    }
    await membership.scan();
    await watch.look();
    assert.deepEqual([wall.agrees, watch.differencesMs.member], [true, 0]);
  });

  for (const byMs of [HOUR_MS, -HOUR_MS, YEAR_MS]) {
    it(`that jumps by ${byMs} ms is wrong at once, tells no time beyond the bound, and is right again later`, async () => {
      await watch.lookAtStore();
      await watch.look();
      const beforeMs = wall.wallMs();
      clock.wallOffsetMs += byMs;
      assert.equal(wall.right, false);
      assert.ok(wall.wallMs() - beforeMs <= BOUND_MS);
      await watch.look();
      assert.match(watch.problem ?? '', /from the store at 10\.0\.0\.1$/);
      assert.ok(Math.abs(watch.differencesMs.median - byMs) < 1000);
      clock.wallOffsetMs -= byMs - 3000;
      assert.deepEqual([wall.right, watch.problem], [true, undefined], 'three seconds off are within the bound');
      assert.equal(wall.wallMs(), beforeMs + 3000);
    });
  }
});

test('a clock without another one is believed at the start; a jump counts once it has lasted, and one that does not last never', async () => {
  const clock = new VirtualClock();
  const wall = new WallClock(clock, BOUND_MS);
  const store = new MemoryStore({ clock });
  const watch = new ClockWatch({ clock, wall, store, log, members: () => [], alone: true });
  const look = async (forMs: number) => {
    for (let spentMs = 0; spentMs < forMs; spentMs += 500) {
      await clock.advance(500);
      await watch.look();
    }
  };
  assert.equal(wall.right, true);
  for (const byMs of [2 * HOUR_MS, -2 * HOUR_MS]) {
    clock.wallOffsetMs += byMs;
    assert.equal(wall.right, false);
    await look(3000);
    assert.equal(wall.right, false);
    assert.match(watch.problem ?? '', /jumped by [+-]7200 s/);
    clock.wallOffsetMs -= byMs;
    assert.deepEqual([wall.right, wall.wallMs()], [true, clock.wallMs()]);
    await look(1000);
    clock.wallOffsetMs += byMs;
    await look(6000);
    assert.deepEqual([wall.right, wall.wallMs()], [true, clock.wallMs()], 'it was meant');
  }
});
