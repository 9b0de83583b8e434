// Several shards on one store, on virtual time, whose heartbeats pass and whose work does not: who gives up, who serves
// the slots then, and who stays as it is.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { FairTurns } from '../../../../src/core/async/turns.ts';
import { IdFactory } from '../../../../src/core/ids.ts';
import { BUILT_IN_PLANS } from '../../../../src/core/plans.ts';
import { slotOfTenant } from '../../../../src/core/slots.ts';
import { createStreamHost } from '../../../../src/rpc/serving/stream-host.ts';
import type { AcceptStream } from '../../../../src/rpc/transport/transport.ts';
import { MemoryBudget } from '../../../../src/shard/memory/memory-budget.ts';
import { createShardNode, type ShardNode } from '../../../../src/shard/shard-node.ts';
import type { LogRecord, Store } from '../../../../src/store/store.ts';
import { createLog } from '../../../../src/telemetry/log.ts';
import { createMetrics, type Metrics } from '../../../../src/telemetry/metrics.ts';
import { directOwners } from '../../../kit/direct-owners.ts';
import { HARNESS_META as META } from '../../../kit/shard-harness.ts';
import { delayedStore, type FaultControls } from '../../../kit/store/faulty-store.ts';
import { MemoryStore } from '../../../kit/store/memory-store.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';
import { random } from '../tools.ts';

const SLOTS = 12;
const meta = { ...META, slots: SLOTS, segmentSize: 64 };
const log = createLog({ level: 'silent', pretty: false });
const NAMES = ['a', 'b', 'c'];

interface Member {
  readonly name: string;
  readonly node: ShardNode;
  readonly faults: FaultControls;
  readonly metrics: Metrics;
  loopBackHealthy: boolean;
}

describe('the health of shards', () => {
  let clock: VirtualClock;
  let ids: IdFactory;
  let memory: MemoryStore;
  let members: Member[];
  let doors: Map<string, AcceptStream>;
  /** Whether an append of this record fails, for every member. */
  let refuses: (record: LogRecord) => boolean;

  const soon = () => clock.monotonicMs() + 3_600_000;

  const add = (name: string): Member => {
    const { store, faults } = delayedStore(memory, clock);
    const refusing: Store = {
      ...store,
      append: (record, deadline) =>
        refuses(record) ? Promise.reject(new Error('refused')) : store.append(record, deadline),
    };
    const metrics = createMetrics();
    const node = createShardNode(
      {
        store: refusing,
        clock,
        random,
        log,
        metrics,
        budget: new MemoryBudget(1_000_000, new FairTurns(clock)),
        owners: directOwners(clock, doors),
      },
      {
        shardName: name,
        address: `${name}:1`,
        meta,
        plans: BUILT_IN_PLANS,
        loopBackHealthy: () => member.loopBackHealthy,
      },
    );
    doors.set(`${name}:1`, createStreamHost({ shard: () => node, clock, log, metrics }).accept);
    const member: Member = { name, node, faults, metrics, loopBackHealthy: true };
    members.push(member);
    return member;
  };
  const served = (member: Member) => [...member.node.routes().epochs.keys()];
  const servedByAll = () => new Set(members.flatMap(served)).size;
  const incarnations = () => members.map(({ node }) => node.incarnation);
  const owners = async () => new Map((await memory.listSlots(soon())).map((row) => [row.slot, row]));

  /** Until the condition holds, looking ten times a second. Returns how long it took. */
  const until = async (condition: () => boolean, withinMs: number): Promise<number> => {
    const startMs = clock.monotonicMs();
    while (!condition()) {
      assert.ok(clock.monotonicMs() - startMs < withinMs, `not within ${withinMs} ms`);
      await clock.advance(100);
    }
    return clock.monotonicMs() - startMs;
  };

  const startAll = async (count = NAMES.length): Promise<readonly Member[]> => {
    for (const name of NAMES.slice(0, count)) {
      const { node } = add(name);
      void node.join().then(() => node.start());
    }
    await until(() => servedByAll() === SLOTS && members.every(({ node }) => node.ready), 5000);
    await clock.advance(20_000);
    return members;
  };
  const first = async (count?: number): Promise<Member> => {
    const [member] = await startAll(count);
    assert.ok(member !== undefined && served(member).length > 1);
    return member;
  };

  /** A write to a slot. Resolves to whether it succeeded. */
  const write = ({ node }: Member, slot: number) => {
    let tenantId = ids.create('ten');
    while (slotOfTenant(tenantId, SLOTS) !== slot) tenantId = ids.create('ten');
    const attempt = { requestId: ids.create('req'), expiresAtMs: clock.monotonicMs() + 10_000 };
    const tenant = { tenantId, name: 'test', plan: 'free', operator: 'test' };
    return node
      .connectConsole()
      .operator.call('createTenant', { attempt }, tenant)
      .then(
        () => true,
        () => false,
      );
  };
  const aSlotOf = (member: Member): number => {
    const [slot] = served(member);
    assert.ok(slot !== undefined);
    return slot;
  };
  const metric = async ({ metrics }: Member, line: string) => (await metrics.render()).includes(`\n${line}\n`);

  beforeEach(async () => {
    clock = new VirtualClock();
    ids = new IdFactory(clock, random);
    memory = new MemoryStore({ clock });
    await memory.initializeMeta(meta, soon());
    members = [];
    doors = new Map();
    refuses = () => false;
  });

  it('stays as it is while shards are idle, and adds nothing to the log', async () => {
    await startAll();
    const [before, rows] = [incarnations(), await owners()];
    await clock.advance(600_000);
    assert.deepEqual(incarnations(), before);
    assert.deepEqual(await owners(), rows);
    for (const slot of rows.keys()) assert.equal((await memory.readRecords(slot, 1, 10, soon())).length, 1);
    for (const member of members) assert.ok(await metric(member, 'grantd_shard_unhealthy{part="append"} 0'));
  });

  for (const [what, break_, withinMs] of [
    ['appends hang', ({ faults }: Member) => faults.turn('hold', ['append']), 35_000],
    ['appends fail', ({ faults }: Member) => faults.turn('fail-before', ['append']), 35_000],
    ['state writes hang', ({ faults }: Member) => faults.turn('hold', ['writeState']), 55_000],
    [
      'loop-back call fails',
      (member: Member) => {
        member.loopBackHealthy = false;
      },
      35_000,
    ],
  ] as const) {
    for (const idle of [true, false]) {
      it(`gives up a shard whose ${what}, ${idle ? 'idle' : 'with writes'}, and no other: its slots are served elsewhere`, async () => {
        const broken = await first();
        const [, ...before] = incarnations();
        break_(broken);
        const slot = aSlotOf(broken);
        if (!idle) void write(broken, slot);
        // Its heartbeats succeed: no member would take a slot from it.
        await clock.advance(8000);
        assert.ok(broken.node.leaseLeftMs > 0);
        const others = members.filter((member) => member !== broken);
        await until(() => new Set(others.flatMap(served)).size === SLOTS, withinMs - 8000);
        assert.equal(broken.node.leaseLeftMs, 0);
        assert.ok(broken.node.unhealthyPart !== undefined);
        const heir = others.find((member) => served(member).includes(slot));
        assert.ok(heir !== undefined);
        const written = write(heir, slot);
        await clock.advance(2000);
        assert.equal(await written, true);
        // Time for the broken one to come back and give up three times over: after 30 s, 60 s and 120 s.
        await clock.advance(300_000);
        assert.deepEqual(incarnations().slice(1), before);
        assert.ok(await metric(broken, `grantd_shard_unhealthy{part="${broken.node.unhealthyPart}"} 1`));
      });
    }
  }

  it('keeps every owner and slot in place while no member can append', async () => {
    const owner = await first();
    const [before, rows] = [incarnations(), await owners()];
    for (const [index, member] of members.entries()) {
      member.faults.turn(index === 0 ? 'hold' : 'fail-before', ['append']);
      void write(member, aSlotOf(member));
    }
    for (let round = 0; round < 60; round += 1) {
      await clock.advance(10_000);
      // What they have in memory is answered meanwhile.
      assert.ok(members.every(({ node }) => node.leaseLeftMs > 0));
    }
    assert.ok(await metric(owner, 'grantd_shard_unhealthy{part="append"} 0.5'));
    for (const { faults } of members) {
      faults.restore(['append']);
      await clock.advance(1000);
    }
    await clock.advance(60_000);
    assert.deepEqual(incarnations(), before);
    for (const [slot, { owner, epoch }] of await owners()) {
      assert.deepEqual([owner, epoch], [rows.get(slot)?.owner, rows.get(slot)?.epoch]);
    }
  });

  it('keeps the only remaining shard going, whatever fails', async () => {
    const broken = await first(1);
    broken.faults.turn('hold', ['append', 'writeState']);
    broken.loopBackHealthy = false;
    await clock.advance(300_000);
    assert.ok(broken.node.leaseLeftMs > 0);
    assert.equal(served(broken).length, SLOTS);
  });

  it('does not move a slot that no member can append to, nor others along with it', async () => {
    const owner = await first();
    const slot = aSlotOf(owner);
    const [before, rows] = [incarnations(), await owners()];
    refuses = (record) => record.slot === slot;
    void write(owner, slot);
    await clock.advance(1_200_000);
    assert.deepEqual(incarnations(), before);
    assert.deepEqual(await owners(), rows);
    assert.ok(await metric(owner, 'grantd_stuck_slots{work="append"} 1'));
  });

  it('reopens a slot whose append is stuck although its log accepts others', async () => {
    const owner = await first();
    const slot = aSlotOf(owner);
    const [before, rows] = [incarnations(), await owners()];
    const epoch = rows.get(slot)?.epoch ?? 0;
    // What stands in the log already is found there.
    refuses = (record) => record.slot === slot && record.epoch === epoch && record.seq > 1;
    const stuck = write(owner, slot);
    await until(() => (owner.node.routes().epochs.get(slot) ?? 0) === epoch + 1, 60_000);
    await clock.advance(2000);
    assert.equal(await stuck, false);
    const written = write(owner, slot);
    await clock.advance(2000);
    assert.equal(await written, true);
    assert.deepEqual(incarnations(), before);
    for (const row of (await owners()).values()) if (row.slot !== slot) assert.deepEqual(row, rows.get(row.slot));
  });

  it('lets a shard return when it works again, as another incarnation and with its share', async () => {
    const broken = await first();
    const share = served(broken).sort();
    const [before] = incarnations();
    broken.faults.turn('hold', ['append']);
    await until(() => broken.node.unhealthyPart !== undefined, 30_000);
    const gaveUpMs = clock.monotonicMs();
    broken.faults.restore(['append']);
    await until(() => broken.node.incarnation !== before, 40_000);
    assert.ok(clock.monotonicMs() - gaveUpMs >= 30_000);
    await until(() => served(broken).sort().join() === share.join(), 20_000);
    assert.equal(servedByAll(), SLOTS);
  });

  it('lets an unhealthy shard stop in time', async () => {
    const broken = await first();
    broken.faults.turn('hold', ['append']);
    await until(() => broken.node.unhealthyPart !== undefined, 30_000);
    await clock.advance(10_000);
    let stopped = false;
    void broken.node.stop().then(() => {
      stopped = true;
    });
    await until(() => stopped, 10_000);
  });
});
