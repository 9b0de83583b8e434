// Declaring dead: only after the lease, only by one that was steady itself, and never where a newer heartbeat was
// first.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { Membership } from '../../../../src/shard/ownership/membership.ts';
import { createLog } from '../../../../src/telemetry/log.ts';
import { MemoryStore } from '../../../kit/store/memory-store.ts';
import { createMember } from '../../../kit/store/store-fixtures.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';

/** Of members in these tests. */
const WALL_MS = 1_700_000_000_000;

const LEASE_MS = 3000;
const log = createLog({ level: 'silent', pretty: false });

describe('membership', () => {
  let clock: VirtualClock;
  let store: MemoryStore;
  let membership: Membership;
  let steadySinceMs: number;

  const soon = () => clock.monotonicMs() + 60_000;
  const self = createMember({ incarnation: 'inc_b', shardName: 'b', heartbeat: 1 });
  const other = createMember({ incarnation: 'inc_a', shardName: 'a', heartbeat: 1 });
  const observer = () => ({ incarnation: self.incarnation, steadySinceMs });
  const stateOf = async (incarnation: string) => (await store.readMember(incarnation, soon()))?.state;

  /** Scans and looks for the silent twice a second, as a shard does. */
  const watch = async (forMs: number, each?: () => Promise<unknown>) => {
    for (let passedMs = 0; passedMs < forMs; passedMs += 500) {
      await clock.advance(500);
      await each?.();
      await membership.scan();
      await membership.declareSilent(observer());
    }
  };

  beforeEach(async () => {
    clock = new VirtualClock();
    store = new MemoryStore({ clock });
    membership = new Membership({ store, clock, log }, { leaseMs: LEASE_MS });
    steadySinceMs = clock.monotonicMs();
    for (const member of [self, other]) await store.insertMember(member, soon());
    await membership.scan();
  });

  it('declares a member dead once its heartbeat has not changed for longer than its lease', async () => {
    await watch(3000);
    assert.equal(await stateOf(other.incarnation), 'alive');
    await watch(1000);
    assert.equal(await stateOf(other.incarnation), 'dead');
    assert.equal(membership.row(other.incarnation)?.state, 'dead');
    assert.equal(await membership.confirmDead(other.incarnation), true);
  });

  it('never declares a member that heartbeats, nor itself', async () => {
    let heartbeat = 1;
    await watch(20_000, async () => {
      const { incarnation } = other;
      await store.writeHeartbeat(
        {
          incarnation,
          expectedHeartbeat: heartbeat,
          heartbeat: heartbeat + 1,
          healthyHeartbeat: 0,
          wallMs: WALL_MS,
          state: 'alive',
        },
        soon(),
      );
      heartbeat += 1;
    });
    assert.equal(await stateOf(other.incarnation), 'alive');
    assert.equal(await stateOf(self.incarnation), 'alive');
  });

  it('knows when another member that takes slots last reported its health, and not from first sight', async () => {
    const never = Number.NEGATIVE_INFINITY;
    const provenAtMs = () => membership.othersProvenAtMs(self.incarnation);
    const late = createMember({ incarnation: 'inc_c', shardName: 'c', heartbeat: 9, healthyHeartbeat: 9 });
    await store.insertMember(late, soon());
    await membership.scan();
    assert.equal(provenAtMs(), never);
    let heartbeat = 1;
    const report = async (healthyHeartbeat: number, state: 'alive' | 'draining' = 'alive') => {
      await clock.advance(500);
      const { incarnation } = other;
      const next = {
        incarnation,
        expectedHeartbeat: heartbeat,
        heartbeat: heartbeat + 1,
        healthyHeartbeat,
        wallMs: WALL_MS,
        state,
      };
      assert.ok((await store.writeHeartbeat(next, soon())).applied);
      heartbeat += 1;
      await membership.scan();
    };
    await report(0);
    assert.equal(provenAtMs(), never);
    await report(3);
    const reportedAtMs = clock.monotonicMs();
    assert.equal(provenAtMs(), reportedAtMs);
    assert.equal(
      membership.othersProvenAtMs(other.incarnation),
      never,
      'its own heartbeats prove nothing about others',
    );
    await report(3);
    // A row that an older answer shows once more.
    await report(2);
    await report(3);
    assert.equal(provenAtMs(), reportedAtMs);
    await report(7, 'draining');
    assert.equal(provenAtMs(), never);
    await report(7);
    assert.equal(provenAtMs(), clock.monotonicMs() - 500);
    await store.declareDead({ incarnation: other.incarnation, heartbeat }, soon());
    await membership.scan();
    assert.equal(provenAtMs(), never);
  });

  it('counts again after a gap of its own scans', async () => {
    await watch(3000);
    await clock.advance(1500);
    await membership.scan();
    await membership.declareSilent(observer());
    assert.equal(await stateOf(other.incarnation), 'alive');
    await watch(3000);
    assert.equal(await stateOf(other.incarnation), 'alive');
    await watch(1000);
    assert.equal(await stateOf(other.incarnation), 'dead');
  });

  it('counts again after a gap of its own heartbeats', async () => {
    await watch(3000);
    steadySinceMs = Number.POSITIVE_INFINITY;
    await watch(2000);
    assert.equal(await stateOf(other.incarnation), 'alive');
    steadySinceMs = clock.monotonicMs();
    await watch(3000);
    assert.equal(await stateOf(other.incarnation), 'alive');
    await watch(1000);
    assert.equal(await stateOf(other.incarnation), 'dead');
  });

  it('does not declare death if a newer heartbeat comes first, and counts from that one', async () => {
    await watch(3000);
    await clock.advance(450);
    await membership.scan();
    await clock.advance(50);
    const { incarnation } = other;
    await store.writeHeartbeat(
      { incarnation, expectedHeartbeat: 1, heartbeat: 2, healthyHeartbeat: 0, wallMs: WALL_MS, state: 'alive' },
      soon(),
    );
    await membership.declareSilent(observer());
    assert.equal(await stateOf(incarnation), 'alive');
    assert.equal(membership.row(incarnation)?.heartbeat, 2);
    await watch(3000);
    assert.equal(await stateOf(incarnation), 'alive');
  });

  it('takes its turn by rank, so that one declares', async () => {
    const third = createMember({ incarnation: 'inc_c', shardName: 'c', heartbeat: 1 });
    await store.insertMember(third, soon());
    const late = new Membership({ store, clock, log }, { leaseMs: LEASE_MS });
    const lateObserver = { incarnation: third.incarnation, steadySinceMs };
    let both: boolean[] = [];
    for (let passedMs = 0; passedMs < 4000; passedMs += 50) {
      await clock.advance(50);
      await membership.scan();
      await late.scan();
      const mine = await membership.declareSilent({ ...observer() });
      const theirs = await late.declareSilent(lateObserver);
      if (mine || theirs) {
        both = [mine, theirs];
        break;
      }
    }
    assert.deepEqual(both, [true, false]);
  });

  it('takes its turn among those that may declare: a member that is silent itself counts for none', async () => {
    const third = createMember({ incarnation: 'inc_c', shardName: 'c', heartbeat: 1 });
    await store.insertMember(third, soon());
    await membership.scan();
    let heartbeat = 1;
    const heard = async () => {
      const { incarnation } = third;
      const next = { incarnation, expectedHeartbeat: heartbeat, heartbeat: heartbeat + 1, healthyHeartbeat: 0 };
      assert.ok((await store.writeHeartbeat({ ...next, wallMs: WALL_MS, state: 'alive' }, soon())).applied);
      heartbeat += 1;
    };
    // `other`, which comes first, is the one that died.
    await watch(3000, heard);
    await clock.advance(LEASE_MS + 300 - 3000);
    await heard();
    await membership.scan();
    assert.equal(await membership.declareSilent(observer()), true);
    assert.equal(await stateOf(other.incarnation), 'dead');
  });

  it('scans more often if its turn to declare comes first', async () => {
    const others = ['inc_c', 'inc_d'].map((incarnation) => createMember({ incarnation, shardName: incarnation }));
    for (const each of others) await store.insertMember(each, soon());
    await membership.scan();
    const scans = [other, self, ...others].map(({ incarnation }) => membership.scanMs(incarnation));
    assert.deepEqual(scans, [250, 250, 500, 500]);
  });

  it('scans more often while a member is silent, and the next time at the moment at which it may declare it dead', async () => {
    await watch(1000);
    await clock.advance(10);
    await membership.scan();
    assert.equal(membership.scanMs(self.incarnation), 100);
    assert.deepEqual([...membership.suspects(self.incarnation)], [other.incarnation]);
    await watch(2000);
    for (let scans = 0; (await stateOf(other.incarnation)) !== 'dead'; scans += 1) {
      assert.ok(scans < 5);
      await clock.advance(membership.scanMs(self.incarnation));
      await membership.scan();
      await membership.declareSilent(observer());
    }
    assert.equal(clock.monotonicMs() - steadySinceMs, LEASE_MS + 300);
  });

  it('does not scan without a pause while a declaration is due and is not stored', async () => {
    await watch(3000);
    await clock.advance(400);
    await membership.scan();
    assert.equal(membership.scanMs(self.incarnation), 20);
  });

  it('treats death as final, whatever an older answer says', async () => {
    await store.declareDead({ incarnation: other.incarnation, heartbeat: 1 }, soon());
    await membership.scan();
    membership.learn(other);
    assert.equal(membership.row(other.incarnation)?.state, 'dead');
  });

  it('asks the store about a member that it does not know', async () => {
    const unknown = createMember({ incarnation: 'inc_d', shardName: 'd' });
    assert.equal(await membership.confirmDead(unknown.incarnation), true);
    await store.insertMember(unknown, soon());
    assert.equal(await membership.confirmDead(unknown.incarnation), false);
  });

  it('removes the rows of the dead after an hour, not before', async () => {
    await store.declareDead({ incarnation: other.incarnation, heartbeat: 1 }, soon());
    await membership.scan();
    await clock.advance(3_500_000);
    await membership.scan();
    await membership.removeDead(observer());
    assert.equal(await stateOf(other.incarnation), 'dead');
    await clock.advance(200_000);
    await membership.scan();
    await membership.removeDead(observer());
    assert.equal(await stateOf(other.incarnation), undefined);
    await membership.scan();
    assert.deepEqual(
      membership.rows().map(({ incarnation }) => incarnation),
      [self.incarnation],
    );
  });
});
