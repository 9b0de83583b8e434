// Certain deaths: of the earlier members of one place, and of none other.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import {
  declareEnded,
  declarePredecessors,
  declareVacant,
  findPredecessors,
} from '../../../../src/shard/ownership/predecessors.ts';
import { createLog } from '../../../../src/telemetry/log.ts';
import { MemoryStore } from '../../../kit/store/memory-store.ts';
import { createMember } from '../../../kit/store/store-fixtures.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';

/** Of members in these tests. */
const WALL_MS = 1_700_000_000_000;
const PROMISES_MS = 60;

const log = createLog({ level: 'silent', pretty: false });

describe('predecessors', () => {
  let clock: VirtualClock;
  let store: MemoryStore;

  const soon = () => clock.monotonicMs() + 60_000;
  const stateOf = async (incarnation: string) => (await store.readMember(incarnation, soon()))?.state;
  const declare = async (place: string, isThere = () => true) => {
    const found = await findPredecessors({ store, clock, log }, { place, isThere });
    const declaring = declarePredecessors({ store, clock, log }, found, PROMISES_MS);
    await clock.advance(PROMISES_MS);
    await declaring;
  };
  const insert = async (change: Parameters<typeof createMember>[0]) => {
    const member = createMember(change);
    await store.insertMember(member, soon());
    return member.incarnation;
  };

  beforeEach(() => {
    clock = new VirtualClock();
    store = new MemoryStore({ clock });
  });

  it('declares those of the same place dead, whatever their heartbeat, and no others', async () => {
    const earlier = await insert({ place: 'here', heartbeat: 17 });
    const draining = await insert({ place: 'here', state: 'draining' });
    const elsewhere = await insert({ place: 'there', shardName: 'shard-0' });
    const unknown = await insert({ place: undefined });
    await declare('here');
    assert.deepEqual(
      [await stateOf(earlier), await stateOf(draining), await stateOf(elsewhere), await stateOf(unknown)],
      ['dead', 'dead', 'alive', 'alive'],
    );
  });

  it('declares none dead before its promises are over, since a successor does not wait for its lease', async () => {
    const earlier = await insert({ place: 'here' });
    const found = await findPredecessors({ store, clock, log }, { place: 'here', isThere: () => true });
    const declaring = declarePredecessors({ store, clock, log }, found, PROMISES_MS);
    await clock.advance(PROMISES_MS - 1);
    assert.equal(await stateOf(earlier), 'alive');
    await clock.advance(1);
    await declaring;
    assert.equal(await stateOf(earlier), 'dead');
  });

  it('declares no member dead once its process is leaving, since a later one may have taken its place', async () => {
    const later = await insert({ place: 'here' });
    let isThere = true;
    const listing = declare('here', () => isThere);
    isThere = false;
    await listing;
    assert.equal(await stateOf(later), 'alive');
  });

  it('declares a member dead whose last heartbeat comes late', async () => {
    const incarnation = await insert({ place: 'here', heartbeat: 1 });
    const heartbeat = {
      incarnation,
      expectedHeartbeat: 1,
      heartbeat: 2,
      healthyHeartbeat: 0,
      wallMs: WALL_MS,
      state: 'alive',
    } as const;
    await store.writeHeartbeat(heartbeat, soon());
    assert.equal(await declareEnded({ store, clock }, { incarnation, heartbeat: 1 }), true);
    assert.equal(await stateOf(incarnation), 'dead');
  });

  it('declares the members of a held place dead, and lets go of it once they are known', async () => {
    const earlier = await insert({ place: 'here' });
    const elsewhere = await insert({ place: 'there', shardName: 'shard-0' });
    let isHeld = true;
    const release = () => {
      isHeld = false;
    };
    const options = { place: 'here', held: { isHeld: () => isHeld, release }, promisesMs: PROMISES_MS };
    const declaring = declareVacant({ store, clock, log }, options);
    await clock.advance(PROMISES_MS - 1);
    assert.deepEqual([isHeld, await stateOf(earlier)], [false, 'alive']);
    const later = await insert({ place: 'here' });
    await clock.advance(1);
    assert.equal(await declaring, true);
    assert.deepEqual(
      [await stateOf(earlier), await stateOf(later), await stateOf(elsewhere)],
      ['dead', 'alive', 'alive'],
    );
  });

  it('declares nobody dead whose place is not held until they are known', async () => {
    const living = await insert({ place: 'here' });
    let isHeld = true;
    const held = { isHeld: () => isHeld, release: () => {} };
    const declaring = declareVacant({ store, clock, log }, { place: 'here', held, promisesMs: PROMISES_MS });
    isHeld = false;
    await clock.advance(PROMISES_MS);
    assert.equal(await declaring, false);
    assert.equal(await stateOf(living), 'alive');
  });

  it('leaves the others to their leases if the store does not respond', async () => {
    const earlier = await insert({ place: 'here' });
    store.declareDead = () => Promise.reject(new Error('away'));
    await declare('here');
    store.listMembers = () => Promise.reject(new Error('away'));
    await declare('here');
    assert.equal(await stateOf(earlier), 'alive');
  });
});
