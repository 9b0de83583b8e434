// Several shards on one store, on virtual time: who serves what when members come, go, fall silent and come back.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { FairTurns } from '../../../../src/core/async/turns.ts';
import { BUILT_IN_PLANS } from '../../../../src/core/plans.ts';
import { rankShards, slotOfTenant } from '../../../../src/core/slots.ts';
import { createStreamHost } from '../../../../src/rpc/serving/stream-host.ts';
import type { AcceptStream } from '../../../../src/rpc/transport/transport.ts';
import { MemoryBudget } from '../../../../src/shard/memory/memory-budget.ts';
import { HANDOVERS_MAX } from '../../../../src/shard/ownership/handover-pace.ts';
import { OPENINGS_MAX } from '../../../../src/shard/ownership/slot-tasks.ts';
import { createShardNode, type ShardNode } from '../../../../src/shard/shard-node.ts';
import { createLog } from '../../../../src/telemetry/log.ts';
import { createMetrics } from '../../../../src/telemetry/metrics.ts';
import { directOwners } from '../../../kit/direct-owners.ts';
import { HARNESS_META as META } from '../../../kit/shard-harness.ts';
import { delayedStore, type Fault, type FaultControls } from '../../../kit/store/faulty-store.ts';
import { MemoryStore } from '../../../kit/store/memory-store.ts';
import type { StoreOperation } from '../../../kit/store/store-gate.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';
import { random } from '../tools.ts';

const SLOTS = 24;
const ALL = Array.from({ length: SLOTS }, (_, slot) => slot);
const STORE_OPERATIONS: readonly StoreOperation[] = [
  'append',
  'readRecord',
  'readRecords',
  'readSlot',
  'listSlots',
  'claimSlot',
  'recordOpened',
  'releaseSlot',
  'writeHeartbeat',
  'declareDead',
  'readMember',
  'listMembers',
  'writeState',
  'writeCheckpoint',
  'readCheckpoint',
  'listTenants',
];
const meta = { ...META, slots: SLOTS };
const log = createLog({ level: 'silent', pretty: false });
/** By a front, of nothing. */
const reported = { load: undefined, usage: [], problems: [], asked: [], awaited: [] };

interface Member {
  readonly name: string;
  readonly node: ShardNode;
  readonly faults: FaultControls;
}

describe('the ownership of slots', () => {
  let clock: VirtualClock;
  let memory: MemoryStore;
  let members: Member[];
  let doors: Map<string, AcceptStream>;
  let fault: (name: string, operation: StoreOperation, call: number) => Fault | undefined;

  const soon = () => clock.monotonicMs() + 600_000;

  const add = (name: string, exclusive = false): Member => {
    const { store, faults } = delayedStore(memory, clock, {
      fault: (operation, call) => fault(name, operation, call),
    });
    const metrics = createMetrics();
    const node = createShardNode(
      {
        store,
        clock,
        random,
        log,
        metrics,
        budget: new MemoryBudget(1_000_000, new FairTurns(clock)),
        owners: directOwners(clock, doors),
      },
      { shardName: name, address: `${name}:1`, meta, plans: BUILT_IN_PLANS, exclusive },
    );
    doors.set(`${name}:1`, createStreamHost({ shard: () => node, clock, log, metrics }).accept);
    const member = { name, node, faults };
    members.push(member);
    return member;
  };
  const start = (member: Member) => {
    void member.node.join().then(() => member.node.start());
    return member;
  };
  const servedBy = ({ node }: Member): number[] => [...node.routes().epochs.keys()].sort((a, b) => a - b);
  const wantedBy = (name: string, names: readonly string[]) =>
    ALL.filter((slot) => rankShards(names, slot)[0] === name);
  /** Slots that a shard hands over are still among its routes. */
  const unserved = async (): Promise<number[]> => {
    const reports = members.map(({ node }) => node.connectConsole().operator.call('listSlots', {}, undefined));
    const owned = (await Promise.all(reports)).flatMap((report) => report.owned);
    const served = new Set(owned.filter(({ state }) => state === 'serving').map(({ slot }) => slot));
    return ALL.filter((slot) => !served.has(slot));
  };
  const owners = async () =>
    new Map((await memory.listSlots(soon())).map(({ slot, owner, epoch }) => [slot, { owner, epoch }]));

  /**
   * Until the condition holds, looking every 10 ms; fails after `withinMs` of virtual time. Returns how long it took.
   */
  const until = async (condition: () => boolean, withinMs: number, each?: () => unknown): Promise<number> => {
    const startMs = clock.monotonicMs();
    while (!condition()) {
      const tookMs = clock.monotonicMs() - startMs;
      assert.ok(tookMs < withinMs, `not within ${withinMs} ms`);
      await clock.advance(10);
      await each?.();
    }
    return clock.monotonicMs() - startMs;
  };
  const settled = (names: readonly string[]) => () =>
    names.every((name) => {
      const member = members.find((each) => each.name === name);
      return member !== undefined && servedBy(member).join() === wantedBy(name, names).join();
    });

  /** Until these have settled: the longest time in which some slot was served by nobody. */
  const longestPause = async (names: readonly string[], withinMs: number): Promise<number> => {
    let [pausedMs, longestMs] = [0, 0];
    await until(settled(names), withinMs, async () => {
      pausedMs = (await unserved()).length === 0 ? 0 : pausedMs + 10;
      longestMs = Math.max(longestMs, pausedMs);
    });
    return longestMs;
  };

  const later = (delayMs: number) => () => new Promise<void>((resolve) => void clock.setTimer(resolve, delayMs));
  /** Every call to the store takes 3 ms. */
  const latency = (): Fault => ({
    kind: 'delay-reply',
    until: later(3),
  });

  beforeEach(async () => {
    clock = new VirtualClock();
    memory = new MemoryStore({ clock });
    await memory.initializeMeta(meta, soon());
    members = [];
    doors = new Map();
    fault = () => latency();
  });

  it('goes to the wanted owner of each slot at a cold start, with one claim per slot', async () => {
    const [a, b, c] = [start(add('a')), start(add('b')), start(add('c'))];
    await until(settled(['a', 'b', 'c']), 3000);
    const claims = [a, b, c].map(({ faults }) => faults.calls('claimSlot'));
    assert.equal(
      claims.reduce((sum, count) => sum + count, 0),
      SLOTS,
    );
    for (const { epoch } of (await owners()).values()) assert.equal(epoch, 1);
    assert.ok([a, b, c].every(({ node }) => node.ready));
  });

  it('moves the share of a member that joins, a few slots at a time, and nothing else', async () => {
    start(add('a'));
    start(add('b'));
    await until(settled(['a', 'b']), 3000);
    const before = await owners();
    const c = start(add('c'));
    let most = 0;
    await until(settled(['a', 'b', 'c']), 10_000, async () => {
      most = Math.max(most, (await unserved()).length);
    });
    // Two owners give.
    assert.ok(most <= 2 * HANDOVERS_MAX, `${most} slots were without owner at once`);
    const share = wantedBy('c', ['a', 'b', 'c']);
    for (const [slot, { epoch }] of await owners()) {
      assert.equal(epoch, (before.get(slot)?.epoch ?? 0) + (share.includes(slot) ? 1 : 0));
    }
    assert.equal(c.node.ready, true);
  });

  it('hands everything over when a member stops, with short pauses, and its row ends as dead', async () => {
    const [a, b, c] = [start(add('a')), start(add('b')), start(add('c'))];
    await until(settled(['a', 'b', 'c']), 3000);
    let stopped = false;
    void c.node.stop().then(() => {
      stopped = true;
    });
    const pausesMs = new Map<number, number>();
    const sinceMs = new Map<number, number>();
    const watch = async () => {
      const missing = new Set(await unserved());
      for (const slot of missing) if (!sinceMs.has(slot)) sinceMs.set(slot, clock.monotonicMs());
      for (const [slot, fromMs] of [...sinceMs]) {
        if (missing.has(slot)) continue;
        pausesMs.set(slot, clock.monotonicMs() - fromMs);
        sinceMs.delete(slot);
      }
    };
    await until(() => stopped, 10_000, watch);
    await until(settled(['a', 'b']), 5000, watch);
    assert.ok(Math.max(...pausesMs.values()) < 150, `a pause of ${Math.max(...pausesMs.values())} ms`);
    assert.deepEqual(servedBy(c), []);
    assert.equal((await memory.readMember(c.node.incarnation, soon()))?.state, 'dead');
    assert.equal(servedBy(a).length + servedBy(b).length, SLOTS);
  });

  for (const { openMs, leaves, atOnce, what } of [
    { openMs: 3, leaves: false, atOnce: [3, HANDOVERS_MAX], what: 'more to one that joins and opens them promptly' },
    { openMs: 1200, leaves: false, atOnce: [1, 4], what: 'few at once to one that joins and is slow' },
    { openMs: 1200, leaves: true, atOnce: [1, HANDOVERS_MAX], what: 'at most eight at once when it leaves' },
  ]) {
    it(`hands over ${what}`, async () => {
      const a = start(add('a'));
      if (leaves) start(add('b'));
      await until(settled(leaves ? ['a', 'b'] : ['a']), 3000);
      fault = (name, operation) =>
        name === 'b' && operation === 'append' ? { kind: 'delay', until: later(openMs) } : latency();
      if (leaves) void a.node.stop();
      else start(add('b'));
      let most = 0;
      await until(settled(leaves ? ['b'] : ['a', 'b']), 30_000, async () => {
        most = Math.max(most, (await unserved()).length);
      });
      const [least = 0, bound = 0] = atOnce;
      assert.ok(most >= least && most <= bound, `${most} at once`);
    });
  }

  it('does not come back to a shard that has its store alone and stops', async () => {
    const a = start(add('a', true));
    await until(() => a.node.ready, 5000);
    const claims = a.faults.calls('claimSlot');
    // The first slots are released long before the last ones.
    fault = (_, operation, call) =>
      operation === 'releaseSlot' ? { kind: 'delay-reply', until: later(call * 20) } : latency();
    let stopped = false;
    void a.node.stop().then(() => {
      stopped = true;
    });
    await until(() => stopped, 10_000);
    assert.equal(a.faults.calls('claimSlot'), claims);
    for (const { owner } of (await owners()).values()) assert.equal(owner, undefined);
    assert.deepEqual(servedBy(a), []);
  });

  it('is told of the slots that it gets, so that each pauses for little more than two writes', async () => {
    const a = start(add('a'));
    await until(settled(['a']), 3000);
    const b = start(add('b'));
    const longestMs = await longestPause(['a', 'b'], 30_000);
    // A write takes 3 ms, and whoever looks does so every 10; rows are read every 400.
    assert.ok(longestMs <= 50, `${longestMs} ms`);
    assert.equal(b.faults.calls('claimSlot'), 0);
    // Only what the state tables lack of the log is read, and nobody has written.
    assert.equal(b.faults.calls('readRecord'), 0);
    assert.ok(a.faults.calls('releaseSlot') > 0);
  });

  for (const { connects, fromMs, toMs } of [
    { connects: true, fromMs: 2000, toMs: 4500 },
    { connects: false, fromMs: 5900, toMs: 9500 },
  ]) {
    it(`gives nothing to one that a front has not reached, ${connects ? 'until it has' : 'for five seconds'}`, async () => {
      const a = start(add('a'));
      await until(settled(['a']), 3000);
      for (const name of ['front-1', 'front-2']) a.node.connect(name).report(reported);
      // It never comes to another shard.
      a.node.connect('a itself');
      const b = start(add('b'));
      b.node.connect('front-1');
      const joinedMs = clock.monotonicMs();
      if (connects) void later(fromMs)().then(() => b.node.connect('front-2'));
      await until(() => servedBy(b).length > 0, 10_000);
      const firstMs = clock.monotonicMs() - joinedMs;
      assert.ok(firstMs >= fromMs, `the first after ${firstMs} ms`);
      await until(settled(['a', 'b']), 10_000);
      // Later ones wait no more.
      assert.ok(clock.monotonicMs() - joinedMs <= toMs, `the last after ${clock.monotonicMs() - joinedMs} ms`);
    });
  }

  it('gives nothing to one that has not compared its clock with all others yet', async () => {
    const a = start(add('a'));
    await until(settled(['a']), 3000);
    a.node.connect('front').report(reported);
    // Each look at the others takes it long.
    fault = (name, operation) =>
      name === 'b' && operation === 'listMembers' ? { kind: 'delay', until: later(700) } : latency();
    const b = start(add('b'));
    b.node.connect('front');
    const joinedMs = clock.monotonicMs();
    const longestMs = await longestPause(['a', 'b'], 10_000);
    assert.ok(clock.monotonicMs() - joinedMs > 2000);
    assert.ok(longestMs <= 50, `${longestMs} ms`);
  });

  it('takes no slot that is given to another session, or in an epoch that it has opened', async () => {
    const a = start(add('a'));
    await until(settled(['a']), 3000);
    const { shard } = a.node.connectShard();
    const [row = assert.fail()] = await memory.listSlots(soon());
    const { slot, epoch, first, opened } = row;
    const given = { slot, successor: a.node.incarnation, epoch, first, opened, settled: undefined };
    await shard.call('takeSlot', {}, given);
    for (const refused of [
      { ...given, epoch: epoch - 1 },
      { ...given, successor: 'inc_other', epoch: epoch + 1 },
      { ...given, slot: SLOTS, epoch: 1 },
    ]) {
      await assert.rejects(shard.call('takeSlot', {}, refused), { kind: 'not-serving' });
    }
    assert.deepEqual(servedBy(a), ALL);
  });

  it('reads at once whether a slot that it expects is its own by now, if it is asked for it', async () => {
    start(add('b'));
    await until(settled(['b']), 3000);
    const asked = { tenantId: 'ten_01m7zap26vec39w1gswcyac0nr' };
    assert.ok(wantedBy('a', ['a', 'b']).includes(slotOfTenant(asked.tenantId, SLOTS)));
    const a = start(add('a'));
    // It has seen the rows of all slots, and has not been given one.
    await until(() => a.faults.calls('listSlots') >= 2, 1000);
    await clock.advance(20);
    const ask = () =>
      assert.rejects(a.node.connectConsole().operator.call('readTenant', {}, asked), { kind: 'wrong-owner' });
    for (let time = 1; time <= 3; time += 1) {
      const reads = a.faults.calls('listSlots');
      for (let count = 0; count < 10; count += 1) await ask();
      await until(() => a.faults.calls('listSlots') > reads, 20);
      assert.ok(a.faults.calls('listSlots') - reads <= 2, 'they share a read');
    }
  });

  it('leaves every slot without an owner when all members stop', async () => {
    start(add('a'));
    start(add('b'));
    await until(settled(['a', 'b']), 3000);
    let stopped = 0;
    for (const { node } of members) void node.stop().then(() => (stopped += 1));
    await until(() => stopped === 2, 10_000);
    for (const { owner } of (await owners()).values()) assert.equal(owner, undefined);
  });

  type Owners = Awaited<ReturnType<typeof owners>>;
  /** The slots that came to one of these since. */
  const handedTo = async (before: Owners, ...names: readonly Member[]): Promise<number[]> => {
    const incarnations = new Set<string | undefined>(names.map(({ node }) => node.incarnation));
    const rows = await memory.listSlots(soon());
    return rows
      .filter(({ slot, owner }) => incarnations.has(owner) && before.get(slot)?.owner !== owner)
      .map(({ slot }) => slot);
  };

  // Less than the notice: by its end each knows that the other one leaves.
  for (const apartMs of [0, 300, 700]) {
    it(`hands nothing to a member that leaves ${apartMs} ms later`, async () => {
      const [a, b, c] = [start(add('a')), start(add('b')), start(add('c'))];
      await until(settled(['a', 'b', 'c']), 3000);
      const before = await owners();
      const claims = [a, b].map(({ faults }) => faults.calls('claimSlot'));
      let stopped = 0;
      void a.node.stop().then(() => (stopped += 1));
      for (let elapsedMs = 0; stopped < 2 && elapsedMs < 10_000; elapsedMs += 10) {
        if (elapsedMs === apartMs) void b.node.stop().then(() => (stopped += 1));
        await clock.advance(10);
        assert.deepEqual(await handedTo(before, a, b), []);
      }
      assert.equal(stopped, 2);
      await until(settled(['c']), 3000);
      assert.deepEqual(
        [a, b].map(({ faults }) => faults.calls('claimSlot')),
        claims,
      );
      for (const [slot, { owner, epoch }] of await owners()) {
        const was = before.get(slot);
        assert.equal(owner, c.node.incarnation);
        assert.equal(epoch, (was?.epoch ?? 0) + (was?.owner === owner ? 0 : 1));
      }
    });
  }

  it('hands nothing to a member that leaves at the same time, during a scan of the slots', async () => {
    fault = (name, operation) =>
      name === 'a' && operation === 'listSlots' ? { kind: 'delay-reply', until: later(200) } : latency();
    const [a, b] = [start(add('a')), start(add('b')), start(add('c'))];
    await until(settled(['a', 'b', 'c']), 5000);
    await clock.advance(5000);
    const before = await owners();
    const scans = a.faults.calls('listSlots');
    await until(() => a.faults.calls('listSlots') > scans, 5000);
    let stopped = 0;
    for (const { node } of [a, b]) void node.stop().then(() => (stopped += 1));
    for (let elapsedMs = 0; stopped < 2 && elapsedMs < 20_000; elapsedMs += 10) {
      await clock.advance(10);
      assert.deepEqual(await handedTo(before, a, b), []);
    }
    assert.equal(stopped, 2);
    await until(settled(['c']), 3000);
  });

  it('claims nothing more once it is stopping', async () => {
    const a = start(add('a'));
    await until(() => a.faults.calls('claimSlot') > 0, 3000);
    const begun = a.faults.calls('claimSlot');
    assert.ok(begun < SLOTS, 'some wait for the first ones');
    let stopped = false;
    void a.node.stop().then(() => (stopped = true));
    await until(() => stopped, 10_000);
    assert.equal(a.faults.calls('claimSlot'), begun);
  });

  it('keeps a slot whose successor starts to leave while the slot is being applied', async () => {
    // The checkpoint that a handover begins with takes longer than it takes the others to be seen.
    fault = (name, operation) =>
      name === 'a' && operation === 'writeCheckpoint' ? { kind: 'delay', until: later(900) } : latency();
    const [a, b] = [start(add('a')), start(add('b')), start(add('c'))];
    await until(settled(['a', 'b', 'c']), 3000);
    const before = await owners();
    let stopped = 0;
    void a.node.stop().then(() => (stopped += 1));
    // Its notice has ended, and nothing was released yet.
    await clock.advance(1100);
    assert.equal(servedBy(a).length, wantedBy('a', ['a', 'b', 'c']).length);
    void b.node.stop().then(() => (stopped += 1));
    for (let elapsedMs = 0; stopped < 2 && elapsedMs < 20_000; elapsedMs += 10) {
      await clock.advance(10);
      assert.deepEqual(await handedTo(before, a, b), []);
    }
    assert.equal(stopped, 2);
    await until(settled(['c']), 3000);
  });

  it('takes over from a member that is cut off from the store, after its lease and not before', async () => {
    const [a, b] = [start(add('a')), start(add('b'))];
    await until(settled(['a', 'b']), 3000);
    const { operator } = b.node.connectConsole();
    const lost = servedBy(b);
    b.faults.turn('hold', STORE_OPERATIONS);
    const startMs = clock.monotonicMs();
    const firstIncarnation = b.node.incarnation;
    await until(
      () => servedBy(a).length === SLOTS,
      6000,
      () => {
        // While the other may still answer, no other shard serves its slots.
        if (servedBy(a).some((slot) => lost.includes(slot))) assert.equal(b.node.leaseLeftMs, 0);
      },
    );
    assert.ok(clock.monotonicMs() - startMs > 2500);
    const of = { tenantId: 'ten_01m7zap26vec39w1gswcyac0nr' };
    await assert.rejects(operator.call('readTenant', {}, of), { kind: 'not-serving' });
    b.faults.restore(STORE_OPERATIONS);
    await until(() => b.node.incarnation !== firstIncarnation, 3000);
    assert.deepEqual(servedBy(b), []);
    await until(settled(['a', 'b']), 10_000);
  });

  it('reads the slots of a silent member before its death is certain', async () => {
    const [a, b] = [start(add('a')), start(add('b'))];
    await until(settled(['a', 'b']), 3000);
    // Each has seen what the other one claimed.
    await clock.advance(5000);
    const lost = servedBy(b).length;
    const [claims, reads] = [a.faults.calls('claimSlot'), a.faults.calls('readCheckpoint')];
    b.faults.turn('hold', STORE_OPERATIONS);
    await until(() => a.faults.calls('readCheckpoint') >= reads + lost, 2600);
    assert.equal(a.faults.calls('claimSlot'), claims);
    await until(() => servedBy(a).length === SLOTS, 3000);
    assert.equal(a.faults.calls('readCheckpoint'), reads + lost, 'once each');
  });

  /** The slots of all later calls of this read or write to the store, each once. */
  const orderOf = (operation: 'claimSlot' | 'readCheckpoint'): readonly number[] => {
    const order = new Set<number>();
    const list: number[] = [];
    const note = (slot: number) => {
      if (!order.has(slot)) list.push(slot);
      order.add(slot);
    };
    const { claimSlot, readCheckpoint } = memory;
    if (operation === 'claimSlot') {
      memory.claimSlot = (claim, deadline) => {
        note(claim.slot);
        return claimSlot.call(memory, claim, deadline);
      };
    } else {
      memory.readCheckpoint = (slot, deadline) => {
        note(slot);
        return readCheckpoint.call(memory, slot, deadline);
      };
    }
    return list;
  };

  it('reads and claims first, of the slots of a dead member, those that requests wait for', async () => {
    const [a, b] = [start(add('a')), start(add('b'))];
    await until(settled(['a', 'b']), 3000);
    await clock.advance(5000);
    const lost = servedBy(b);
    const awaited = [lost.at(-1), lost.at(-3)].map((slot = assert.fail()) => slot);
    const [reads, claims] = [orderOf('readCheckpoint'), orderOf('claimSlot')];
    b.faults.turn('hold', STORE_OPERATIONS);
    const front = a.node.connect('front');
    // Slots of its own, of another member or of no cluster are not its business.
    front.report({ ...reported, awaited: [...awaited, ...servedBy(a), SLOTS, 4_000_000_000] });
    await until(
      () => reads.length === lost.length,
      2600,
      () => front.report({ ...reported, awaited }),
    );
    const inOrder = [...awaited, ...lost.filter((slot) => !awaited.includes(slot))];
    assert.deepEqual([reads, claims], [inOrder, []]);
    const report = () => front.report({ ...reported, awaited });
    await until(() => awaited.every((slot) => servedBy(a).includes(slot)), 3000, report);
    assert.deepEqual(claims, awaited);
    // The tenants of these have the store and the processors to themselves for a second.
    const quietMs = await until(() => claims.length > awaited.length, 3000, report);
    assert.ok(quietMs > 900, `${quietMs} ms`);
    await until(() => servedBy(a).length === SLOTS, 3000, report);
    assert.deepEqual(claims, inOrder);
  });

  it('opens the slots that no request waits for, however often requests wait for others', async () => {
    const [a, b] = [start(add('a')), start(add('b'))];
    await until(settled(['a', 'b']), 3000);
    await clock.advance(5000);
    const lost = servedBy(b);
    b.faults.turn('hold', STORE_OPERATIONS);
    const front = a.node.connect('front');
    const unserved = () => lost.filter((slot) => !servedBy(a).includes(slot));
    let named = Number.NEGATIVE_INFINITY;
    const nameNext = (): void => {
      if (clock.monotonicMs() - named < 900) return;
      named = clock.monotonicMs();
      front.report({ ...reported, awaited: unserved().slice(-1) });
    };
    await until(() => unserved().length < lost.length, 6000, nameNext);
    assert.ok(lost.length > 10);
    await until(() => unserved().length === 0, 8000, nameNext);
  });

  it('claims each slot of a dead member once, over all members', async () => {
    const [a, b, c] = [start(add('a')), start(add('b')), start(add('c'))];
    await until(settled(['a', 'b', 'c']), 3000);
    await clock.advance(5000);
    const lost = servedBy(c).length;
    const claims = () => a.faults.calls('claimSlot') + b.faults.calls('claimSlot');
    const before = claims();
    c.faults.turn('hold', STORE_OPERATIONS);
    await until(settled(['a', 'b']), 6000);
    // The next in rank may claim what nobody has claimed by then.
    await clock.advance(5000);
    assert.equal(claims() - before, lost);
  });

  it('claims next what a request begins to wait for, and forgets it once no front names it', async () => {
    fault = (_, operation) => (operation === 'claimSlot' ? { kind: 'delay-reply', until: later(5000) } : latency());
    const claims = orderOf('claimSlot');
    const a = start(add('a'));
    await until(() => claims.length === OPENINGS_MAX, 3000);
    const [next, forgotten] = [SLOTS - 1, SLOTS - 2];
    const front = a.node.connect('front');
    front.report({ ...reported, awaited: [forgotten] });
    await clock.advance(4500);
    // No round comes in between.
    a.faults.turn('hold', ['listSlots']);
    await clock.advance(100);
    front.report({ ...reported, awaited: [next] });
    assert.equal(claims.length, OPENINGS_MAX);
    // The others follow one at a time at first.
    await until(() => claims.length === SLOTS, 6000);
    assert.deepEqual(claims, [...ALL.slice(0, OPENINGS_MAX), next, ...ALL.slice(OPENINGS_MAX, next)]);
  });

  it('reads and writes nothing for a front that names slots which others serve', async () => {
    const [a] = [start(add('a')), start(add('b'))];
    await until(settled(['a', 'b']), 3000);
    await clock.advance(5000);
    const counts = () => STORE_OPERATIONS.map((operation) => a.faults.calls(operation)).join();
    const before = counts();
    const front = a.node.connect('front');
    for (let count = 0; count < 100; count += 1) front.report({ ...reported, awaited: [...ALL, ...ALL] });
    assert.equal(counts(), before);
  });

  it('does not change during an outage of the whole store', async () => {
    const [a, b] = [start(add('a')), start(add('b'))];
    await until(settled(['a', 'b']), 3000);
    const before = await owners();
    const incarnations = members.map(({ node }) => node.incarnation);
    for (const { faults } of members) faults.turn('fail-before', STORE_OPERATIONS);
    await clock.advance(20_000);
    assert.deepEqual([a.node.leaseLeftMs, b.node.leaseLeftMs], [0, 0]);
    a.faults.restore(STORE_OPERATIONS);
    // The other comes back a little later.
    await clock.advance(1500);
    b.faults.restore(STORE_OPERATIONS);
    await clock.advance(10_000);
    assert.deepEqual(await owners(), before);
    assert.deepEqual(
      members.map(({ node }) => node.incarnation),
      incarnations,
    );
    assert.ok(a.node.leaseLeftMs > 0 && b.node.leaseLeftMs > 0 && a.node.ready);
  });

  it('serves a slot whose claim was never answered, in the epoch of that claim', async () => {
    fault = (_, operation, call) => (operation === 'claimSlot' && call <= 5 ? { kind: 'fail-after' } : latency());
    start(add('a'));
    await until(settled(['a']), 8000);
    for (const { epoch } of (await owners()).values()) assert.equal(epoch, 1);
  });

  it('serves a slot whose opening failed, in a new epoch', async () => {
    fault = (_, operation, call) => (operation === 'readCheckpoint' && call <= 5 ? { kind: 'fail-after' } : latency());
    start(add('a'));
    await until(settled(['a']), 8000);
    const epochs = [...(await owners()).values()].map(({ epoch }) => epoch);
    assert.equal(epochs.filter((epoch) => epoch > 1).length, 5);
  });

  for (const { leaves, what } of [
    { leaves: false, what: 'whatever the response' },
    { leaves: true, what: 'though the successor leaves and the handover takes effect later' },
  ]) {
    it(`never serves an epoch again once its handover was sent, ${what}`, async () => {
      const [a, b] = [start(add('a')), start(add('b'))];
      await until(settled(['a', 'b']), 3000);
      const released = new Map<number, number>();
      fault = (name, operation) => {
        if (name === 'a' && operation === 'releaseSlot') return { kind: 'apply-late', until: later(3000) };
        return latency();
      };
      const serving = new Map(a.node.routes().epochs);
      const c = start(add('c'));
      const watch = () => {
        const now = a.node.routes().epochs;
        for (const [slot, epoch] of serving) if (!now.has(slot)) released.set(slot, epoch);
        for (const [slot, epoch] of now) assert.ok(epoch > (released.get(slot) ?? 0), `slot ${slot} again in ${epoch}`);
      };
      if (leaves) {
        await until(() => a.faults.calls('releaseSlot') > 0, 3000, watch);
        void c.node.stop();
      }
      await until(settled(leaves ? ['a', 'b'] : ['a', 'b', 'c']), 30_000, watch);
      assert.ok(released.size > 0 && servedBy(b).length > 0 && (leaves || servedBy(c).length > 0));
    });
  }

  it('serves the other slots if one cannot be read, and is ready nevertheless', async () => {
    const broken = { slot: 5, seq: 1, epoch: 1, entryId: 'ent_x', body: 'no log entry' };
    await memory.append(broken, soon());
    const a = start(add('a'));
    await until(() => servedBy(a).length === SLOTS - 1, 3000);
    assert.equal(a.node.ready, false);
    await until(() => a.node.ready, 40_000);
    assert.deepEqual(await unserved(), [5]);
  });

  it('takes the slots of its own earlier run, once that one is dead', async () => {
    const first = start(add('a'));
    await until(settled(['a']), 3000);
    first.faults.turn('hold', STORE_OPERATIONS);
    const second = start(add('a'));
    await until(() => servedBy(second).length === SLOTS, 8000);
    for (const { owner, epoch } of (await owners()).values()) {
      assert.equal(owner, second.node.incarnation);
      assert.equal(epoch, 2);
    }
  });
});
