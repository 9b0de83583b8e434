// The session of one incarnation: what a heartbeat gives, what an unknown one does, and what ends it.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { IdFactory } from '../../../../src/core/ids.ts';
import { Membership } from '../../../../src/shard/ownership/membership.ts';
import {
  HEARTBEAT_INTERVAL_MS,
  HEARTBEAT_TIMEOUT_MS,
  LastingLease,
  type Lease,
  MembershipLease,
  LEASE_MS as NEW_LEASE_MS,
  RenewedLease,
} from '../../../../src/shard/ownership/membership-lease.ts';
import type { Store } from '../../../../src/store/store.ts';
import { createLog } from '../../../../src/telemetry/log.ts';
import { delayedStore, type Fault, type FaultControls } from '../../../kit/store/faulty-store.ts';
import { MemoryStore } from '../../../kit/store/memory-store.ts';
import { CLUSTER_ID, META, newClusterId } from '../../../kit/store/store-fixtures.ts';
import type { StoreOperation } from '../../../kit/store/store-gate.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';
import { random } from '../tools.ts';

/** Of members in these tests. */
const WALL_MS = 1_700_000_000_000;

const LEASE_MS = 3000;
const log = createLog({ level: 'silent', pretty: false });

describe('a session', () => {
  let clock: VirtualClock;
  let memory: MemoryStore;
  let store: Store;
  let faults: FaultControls;
  let fault: (operation: StoreOperation, call: number) => Fault | undefined;
  let session: MembershipLease;
  let ended: string[];
  let lapses: number;
  let health: { healthy: boolean; provenAtMs: number };
  const takes = { slots: true };

  const soon = () => clock.monotonicMs() + 60_000;
  const later = (delayMs: number) => () => new Promise<void>((resolve) => void clock.setTimer(resolve, delayMs));
  const row = async () => {
    const found = await memory.readMember(session.incarnation, soon());
    assert.ok(found !== undefined);
    return found;
  };

  const create = (lease: Lease = new RenewedLease(clock, LEASE_MS)) =>
    new MembershipLease(
      {
        store,
        clock,
        log,
        lease,
        health,
        takes: () => takes.slots,
        observe: () => {},
        onLapsed: () => {
          lapses += 1;
        },
        onEnded: (reason) => ended.push(reason),
      },
      {
        clusterId: CLUSTER_ID,
        incarnation: new IdFactory(clock, random).create('inc'),
        shardName: 'shard-1',
        address: 'shard-1:1',
        place: undefined,
      },
    );

  const join = async () => {
    void session.join();
    await clock.advance(0);
    assert.equal(session.state, 'alive');
  };

  beforeEach(() => {
    clock = new VirtualClock();
    memory = new MemoryStore({ clock });
    void memory.initializeMeta(META, soon());
    fault = () => undefined;
    ({ store, faults } = delayedStore(memory, clock, { fault: (operation, call) => fault(operation, call) }));
    ended = [];
    lapses = 0;
    health = { healthy: true, provenAtMs: Number.NEGATIVE_INFINITY };
    session = create();
  });

  it('has no lease before its first heartbeat is stored', async () => {
    assert.equal(session.leaseValid, false);
    fault = (operation) => (operation === 'writeHeartbeat' ? { kind: 'delay', until: later(100) } : undefined);
    void session.join();
    await clock.advance(50);
    assert.equal(session.leaseValid, false);
    await clock.advance(60);
    assert.equal(session.leaseValid, true);
  });

  it('sends a new number with each heartbeat, and its lease counts from the start of the stored attempt', async () => {
    await join();
    await clock.advance(600);
    assert.equal((await row()).heartbeat, 3);
    fault = (operation) => (operation === 'writeHeartbeat' ? { kind: 'delay', until: later(400) } : undefined);
    await clock.advance(450);
    // The fourth began 300 ms ago and has not stood yet; the third began 550 ms ago.
    assert.equal(session.leaseLeftMs, LEASE_MS - 550);
    await clock.advance(400);
    assert.equal(session.leaseLeftMs, LEASE_MS - 700);
  });

  it('loses its lease while the store does not respond, and regains it when it does', async () => {
    await join();
    faults.turn('hold', ['writeHeartbeat']);
    await clock.advance(2990);
    assert.equal(session.leaseValid, true);
    await clock.advance(20);
    assert.equal(session.leaseValid, false);
    assert.equal(session.leaseLeftMs, 0);
    await clock.advance(20_000);
    faults.restore(['writeHeartbeat']);
    await clock.advance(1500);
    assert.equal(session.leaseValid, true);
    assert.deepEqual(ended, []);
    assert.equal(lapses, 1);
  });

  it('recognizes a heartbeat as its own however many it sent since, and none that it did not send', async () => {
    await join();
    let unknown = true;
    // Only the first of them is stored: the others are conditional on the one before it.
    fault = (operation) => (operation === 'writeHeartbeat' && unknown ? { kind: 'fail-after' } : undefined);
    await clock.advance(120_000);
    assert.equal((await row()).heartbeat, 2);
    assert.equal(session.leaseValid, false);
    unknown = false;
    await clock.advance(1500);
    assert.equal(session.leaseValid, true);
    assert.deepEqual(ended, []);
    const { incarnation } = session;
    const { heartbeat, healthyHeartbeat } = await row();
    const foreign = { incarnation, expectedHeartbeat: heartbeat, heartbeat: 10_000, healthyHeartbeat, wallMs: 1 };
    await memory.writeHeartbeat({ ...foreign, state: 'alive' }, soon());
    await clock.advance(1000);
    assert.match(ended[0] ?? '', /10000, which this process did not send/);
  });

  it('finds out whether an attempt that timed out was stored, and if so its lease counts from its start', async () => {
    await join();
    let unknown = true;
    fault = (operation) => (operation === 'writeHeartbeat' && unknown ? { kind: 'fail-after' } : undefined);
    await clock.advance(250);
    unknown = false;
    assert.equal((await row()).heartbeat, 2);
    assert.equal(session.leaseLeftMs, LEASE_MS - 250);
    // The third is conditional on the first, finds the second, and leases from the second's start.
    await clock.advance(250);
    assert.equal((await row()).heartbeat, 2);
    assert.equal(session.leaseLeftMs, LEASE_MS - 250);
    await clock.advance(250);
    assert.equal((await row()).heartbeat, 4);
    assert.equal(session.leaseLeftMs, LEASE_MS);
  });

  it('ends when another has declared it dead, and never heartbeats again', async () => {
    await join();
    const { incarnation, heartbeat } = await row();
    assert.equal((await memory.declareDead({ incarnation, heartbeat }, soon())).applied, true);
    await clock.advance(500);
    assert.equal(session.ended, true);
    assert.equal(session.leaseValid, false);
    assert.match(ended[0] ?? '', /declared/);
    const calls = faults.calls('writeHeartbeat');
    await clock.advance(5000);
    assert.equal(faults.calls('writeHeartbeat'), calls);
  });

  it('ends when its row is gone, or holds a heartbeat that it did not make', async () => {
    await join();
    const { incarnation, heartbeat } = await row();
    await memory.writeHeartbeat(
      {
        incarnation,
        expectedHeartbeat: heartbeat,
        heartbeat: 99,
        healthyHeartbeat: 0,
        wallMs: WALL_MS,
        state: 'alive',
      },
      soon(),
    );
    await clock.advance(500);
    assert.match(ended[0] ?? '', /heartbeat 99/);

    session = create();
    await join();
    const second = await row();
    await memory.declareDead({ incarnation: session.incarnation, heartbeat: second.heartbeat }, soon());
    await memory.removeMember(session.incarnation, soon());
    await clock.advance(500);
    assert.match(ended[1] ?? '', /no longer exists/);
  });

  it('suspends its lease after a jump of the wall clock, until a later heartbeat', async () => {
    await join();
    await clock.advance(100);
    clock.wallOffsetMs += 190;
    assert.equal(session.leaseValid, true);
    for (const byMs of [100, 3_600_000, -7_200_000, -300]) {
      clock.wallOffsetMs += byMs;
      assert.equal(session.leaseValid, false, `moved by ${byMs} ms`);
      assert.equal(session.leaseLeftMs, 0);
      await clock.advance(500);
      assert.equal(session.leaseValid, true);
    }
  });

  it('gets no lease from a heartbeat that began before the wall clock jumped', async () => {
    await join();
    fault = (operation) => (operation === 'writeHeartbeat' ? { kind: 'delay-reply', until: later(300) } : undefined);
    await clock.advance(350);
    clock.wallOffsetMs += 3_600_000;
    await clock.advance(250);
    // The reply to the second has come, that to the third has not.
    assert.equal((await row()).heartbeat, 3);
    assert.equal(session.leaseValid, false);
    await clock.advance(600);
    assert.equal(session.leaseValid, true);
  });

  it('withholds its heartbeats while it is unhealthy', async () => {
    await join();
    health.healthy = false;
    await clock.advance(4000);
    assert.equal((await row()).heartbeat, 1);
    assert.equal(session.leaseValid, false);
    health.healthy = true;
    await clock.advance(600);
    assert.equal(session.leaseValid, true);
  });

  it('reports its health with the next heartbeat, once, and again until that heartbeat is known to be stored', async () => {
    await join();
    assert.equal((await row()).healthyHeartbeat, 0);
    health.provenAtMs = clock.monotonicMs() + 100;
    await clock.advance(1000);
    const { heartbeat, healthyHeartbeat } = await row();
    assert.deepEqual([heartbeat, healthyHeartbeat], [5, 2]);

    health.provenAtMs = clock.monotonicMs() + 100;
    fault = (operation) => (operation === 'writeHeartbeat' ? { kind: 'fail-before' } : undefined);
    await clock.advance(250);
    assert.equal((await row()).healthyHeartbeat, 2);
    fault = () => undefined;
    await clock.advance(250);
    assert.deepEqual(await row(), { ...(await row()), heartbeat: 7, healthyHeartbeat: 7 });
    await clock.advance(2000);
    assert.equal((await row()).healthyHeartbeat, 7);
  });

  it('reports at once that it drains, and leaves so that no member waits for its lease', async () => {
    await join();
    await clock.advance(10);
    session.drain();
    await clock.advance(1);
    assert.equal((await row()).state, 'draining');
    assert.equal(session.leaseValid, true);
    await session.leave();
    assert.equal((await row()).state, 'dead');
    assert.equal(session.leaseValid, false);
    assert.deepEqual(ended, []);
  });

  it('leaves although a heartbeat of unknown outcome was stored', async () => {
    await join();
    fault = (operation) => (operation === 'writeHeartbeat' ? { kind: 'fail-after' } : undefined);
    await clock.advance(500);
    await session.leave();
    assert.equal((await row()).state, 'dead');
  });

  it('joins after any number of attempts, and is inserted once', async () => {
    fault = (operation, call) => (operation === 'insertMember' && call <= 3 ? { kind: 'fail-after' } : undefined);
    void session.join();
    await clock.advance(2000);
    assert.equal(session.state, 'alive');
    assert.equal((await memory.listMembers(soon())).length, 1);
  });

  it('is steady only while its heartbeats are stored without a gap', async () => {
    await join();
    const joinedMs = clock.monotonicMs();
    await clock.advance(4000);
    assert.equal(session.steadySinceMs, joinedMs);
    faults.turn('fail-before', ['writeHeartbeat']);
    await clock.advance(1500);
    assert.equal(session.steadySinceMs, Number.POSITIVE_INFINITY);
    faults.restore(['writeHeartbeat']);
    await clock.advance(500);
    assert.ok(session.steadySinceMs > joinedMs + 4000);
  });

  describe('of a new cluster, whose store takes almost 250 ms for each heartbeat', () => {
    const STALL_MS = 1000;
    const STORE_MS = 240;
    const STEP_MS = 20;
    /** What is on its way to the store, or back, between these times is lost. */
    let lost: { fromMs: number; untilMs: number };

    const isLost = () => clock.monotonicMs() >= lost.fromMs && clock.monotonicMs() < lost.untilMs;

    async function pass() {
      const wasLost = isLost();
      await later(STORE_MS)();
      if (wasLost || isLost()) await new Promise<never>(() => {});
    }

    /**
     * The greatest age of the last heartbeat that was applied, over stalls that begin at each moment between two
     * heartbeats. The lease outlasts all of them, and another member that looks all the time declares nobody dead.
     */
    async function oldestHeartbeat(stall: () => void): Promise<number> {
      let oldestMs = 0;
      for (let offsetMs = 0; offsetMs < 2 * HEARTBEAT_INTERVAL_MS; offsetMs += 10) {
        lost = { fromMs: 0, untilMs: 0 };
        session = create(new RenewedLease(clock, NEW_LEASE_MS));
        fault = (operation) => (operation === 'writeHeartbeat' ? { kind: 'delay', until: pass } : undefined);
        void session.join();
        const other = new Membership({ store: memory, clock, log }, { leaseMs: NEW_LEASE_MS });
        const observer = { incarnation: 'inc_observer', steadySinceMs: clock.monotonicMs() };
        const look = async () => {
          await other.scan();
          assert.equal(await other.declareSilent(observer), false, `declared dead: ${offsetMs}`);
        };
        for (let passedMs = 0; passedMs < 1000; passedMs += 10 * STEP_MS) {
          await clock.advance(10 * STEP_MS);
          await look();
        }
        await clock.advance(offsetMs);
        stall();
        for (let passedMs = 0; passedMs < 2 * STALL_MS; passedMs += STEP_MS) {
          await clock.advance(STEP_MS);
          assert.ok(session.leaseValid, `the lease ran out: ${offsetMs}, ${passedMs}`);
          oldestMs = Math.max(oldestMs, NEW_LEASE_MS - session.leaseLeftMs);
          await look();
        }
        await session.leave();
        await memory.removeMember(session.incarnation, soon());
      }
      return oldestMs;
    }

    it('outlasts an event loop that stands still for a second, whenever that begins', async () => {
      const oldestMs = await oldestHeartbeat(() => clock.stall(STALL_MS));
      assert.ok(oldestMs <= HEARTBEAT_INTERVAL_MS + STALL_MS + 2 * STORE_MS, `${oldestMs}`);
    });

    it('outlasts a store that loses everything for a second, whenever that begins, and is hardly longer', async () => {
      const oldestMs = await oldestHeartbeat(() => {
        lost = { fromMs: clock.monotonicMs(), untilMs: clock.monotonicMs() + STALL_MS };
      });
      assert.ok(NEW_LEASE_MS >= HEARTBEAT_INTERVAL_MS + STALL_MS + HEARTBEAT_TIMEOUT_MS + STORE_MS);
      assert.ok(oldestMs > NEW_LEASE_MS - HEARTBEAT_INTERVAL_MS, `${oldestMs}`);
    });
  });

  it('needs no heartbeats if the process holds the store alone', async () => {
    session = create(new LastingLease());
    await join();
    await clock.advance(60_000);
    clock.wallOffsetMs += 3_600_000;
    assert.deepEqual([session.leaseValid, session.leaseLeftMs], [true, Number.POSITIVE_INFINITY]);
    assert.equal((await row()).heartbeat, 1);
  });

  it('does not come alive, and ends the process, if the store is that of another cluster by now', async () => {
    const other = newClusterId();
    await memory.replaceClusterId(CLUSTER_ID, other, soon());
    const joining = assert.rejects(session.join(), new RegExp(`${other}.*${CLUSTER_ID}`));
    await clock.advance(1000);
    await joining;
    assert.equal(session.leaseValid, false);
    assert.equal((await row()).state, 'dead');
    assert.equal((await row()).heartbeat, 0, 'no heartbeat was sent');
  });

  it('finds the new id of the cluster when it has inserted its row, however late that changes', async () => {
    // The id changes while the row is on its way, as if the members had been listed before it arrived.
    const other = newClusterId();
    fault = (operation) => {
      if (operation === 'insertMember') void memory.replaceClusterId(CLUSTER_ID, other, soon());
      return undefined;
    };
    const joining = assert.rejects(session.join(), /cluster ID/);
    await clock.advance(1000);
    await joining;
  });
});

it('a lease that has ended is not renewed by a late heartbeat', () => {
  const clock = new VirtualClock();
  const start = { startMs: clock.monotonicMs(), wallOffsetMs: clock.wallMs() - clock.monotonicMs() };
  for (const lease of [new RenewedLease(clock, LEASE_MS), new LastingLease()]) {
    lease.renew(start);
    lease.end();
    lease.renew(start);
    assert.deepEqual([lease.valid, lease.leftMs], [false, 0]);
  }
});
