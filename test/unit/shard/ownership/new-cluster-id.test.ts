// A restored copy of a store gets an id of its own, unless shards work on it.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { giveNewClusterId } from '../../../../src/shard/ownership/new-cluster-id.ts';
import { StoreRefusal } from '../../../../src/store/store-adapter.ts';
import { MemoryStore } from '../../../kit/store/memory-store.ts';
import { CLUSTER_ID, createMember, META, newClusterId } from '../../../kit/store/store-fixtures.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';

const NEVER = Number.POSITIVE_INFINITY;

describe('a new id for a cluster', () => {
  let clock: VirtualClock;
  let store: MemoryStore;
  const next = newClusterId();

  beforeEach(async () => {
    clock = new VirtualClock();
    store = new MemoryStore({ clock });
    await store.initializeMeta(META, NEVER);
  });

  /** Runs it to its end; heartbeats change while it waits. */
  async function give(meanwhile: () => Promise<unknown> = async () => {}, signal = new AbortController().signal) {
    const giving = giveNewClusterId({ store, clock, signal }, META, next);
    const settled = giving.then(
      () => undefined,
      (error: unknown) => error,
    );
    await clock.advance(1000);
    await meanwhile();
    await clock.advance(60_000);
    return settled;
  }
  const clusterId = async () => (await store.readMeta(NEVER))?.clusterId;

  it('is given, and everything that the copy lists as alive is dead', async () => {
    const members = [createMember(), createMember({ state: 'draining' }), createMember({ state: 'dead' })];
    for (const member of members) await store.insertMember(member, NEVER);
    assert.equal(await give(), undefined);
    assert.equal(await clusterId(), next);
    assert.deepEqual(
      (await store.listMembers(NEVER)).map(({ state }) => state),
      ['dead', 'dead', 'dead'],
    );
  });

  it('is refused, and nothing changes, while a member sends heartbeats or joins', async () => {
    const member = createMember({ shardName: 'shard-7', address: '10.0.0.7:8082' });
    const { incarnation, heartbeat } = member;
    await store.insertMember(member, NEVER);
    const beat = { incarnation, expectedHeartbeat: heartbeat, healthyHeartbeat: 0, wallMs: 1, state: 'alive' } as const;
    for (const meanwhile of [
      () => store.writeHeartbeat({ ...beat, heartbeat: heartbeat + 1 }, NEVER),
      () => store.insertMember(createMember({ shardName: 'shard-7', address: '10.0.0.7:8082' }), NEVER),
    ]) {
      const error = await give(meanwhile);
      assert.ok(error instanceof StoreRefusal, String(error));
      assert.match(error.message, /shard-7 at 10\.0\.0\.7:8082/);
      assert.equal(await clusterId(), CLUSTER_ID);
      assert.deepEqual(new Set((await store.listMembers(NEVER)).map(({ state }) => state)), new Set(['alive']));
    }
  });

  it('is refused if another one was given meanwhile', async () => {
    const other = newClusterId();
    await store.insertMember(createMember(), NEVER);
    const error = await give(() => store.replaceClusterId(CLUSTER_ID, other, NEVER));
    assert.ok(error instanceof StoreRefusal, String(error));
    assert.equal(await clusterId(), other);
  });

  it('fences a member whose heartbeats go on after it was thought dead', async () => {
    const member = createMember();
    await store.insertMember(member, NEVER);
    const { incarnation } = member;
    const replace = store.replaceClusterId.bind(store);
    // The heartbeat of a process that was suspended arrives between the two looks.
    store.replaceClusterId = async (from, to, deadline) => {
      const beat = { incarnation, expectedHeartbeat: member.heartbeat, heartbeat: 9, healthyHeartbeat: 0, wallMs: 1 };
      await store.writeHeartbeat({ ...beat, state: 'alive' }, NEVER);
      return replace(from, to, deadline);
    };
    assert.equal(await give(), undefined);
    assert.deepEqual([store.memberOf(incarnation)?.state, await clusterId()], ['dead', next]);
  });

  it('ends with its signal', async () => {
    await store.insertMember(createMember(), NEVER);
    const stopping = new AbortController();
    const reason = new Error('stopping');
    const error = await give(async () => stopping.abort(reason), stopping.signal);
    assert.equal(error, reason);
    assert.equal(await clusterId(), CLUSTER_ID);
  });
});
