// The plan of ownership, as a function of what is known: who claims what and when, and what is handed over.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { rankShards } from '../../../../src/core/slots.ts';
import { candidatesOf, SlotPlanner, type SlotView } from '../../../../src/shard/ownership/slot-plan.ts';
import type { MemberRow, SlotRow } from '../../../../src/store/store.ts';
import { createMember } from '../../../kit/store/store-fixtures.ts';

const SLOTS = 32;
const ALL = Array.from({ length: SLOTS }, (_, slot) => slot);

const member = (name: string, change: Partial<MemberRow> = {}): MemberRow =>
  createMember({ incarnation: `inc_${name}`, shardName: name, heartbeat: 1, ...change });

const row = (slot: number, owner: string | undefined, change: Partial<SlotRow> = {}): SlotRow => ({
  slot,
  owner: owner === undefined ? undefined : `inc_${owner}`,
  epoch: 1,
  opened: 1,
  first: 1,
  ...change,
});

describe('the plan of ownership', () => {
  let planner: SlotPlanner;
  let view: SlotView;

  const see = (change: Partial<SlotView>) => {
    view = { ...view, ...change };
    return planner.plan(view);
  };
  const rowsOf = (make: (slot: number) => SlotRow) => new Map(ALL.map((slot) => [slot, make(slot)]));
  const rankOfA = (names: readonly string[], slot: number) => rankShards(names, slot).indexOf('a');
  const ofRank = (names: readonly string[], rank: number) => ALL.filter((slot) => rankOfA(names, slot) === rank);

  beforeEach(() => {
    planner = new SlotPlanner(SLOTS);
    view = {
      nowMs: 0,
      incarnation: 'inc_a',
      shardName: 'a',
      takes: true,
      members: [member('a'), member('b'), member('c')],
      suspects: new Set(),
      rows: new Map(),
      served: new Set(),
      busy: new Set(),
    };
  });

  it('claims an unowned slot by rank: the wanted owner at once, each next one three seconds later', () => {
    const names = ['a', 'b', 'c'];
    assert.deepEqual(see({}).claims, ofRank(names, 0));
    assert.deepEqual(see({ nowMs: 2999 }).claims, ofRank(names, 0));
    assert.deepEqual(
      see({ nowMs: 3000 }).claims,
      ALL.filter((slot) => rankOfA(names, slot) <= 1),
    );
    assert.deepEqual(see({ nowMs: 6000 }).claims, ALL);
  });

  it('claims nothing from a live owner, not even from a draining one', () => {
    const plan = see({ rows: rowsOf((slot) => row(slot, slot % 2 === 0 ? 'b' : 'c')), nowMs: 60_000 });
    assert.deepEqual(plan.claims, []);
    assert.deepEqual(plan.expected, ofRank(['a', 'b', 'c'], 0));
    const draining = [member('a'), member('b', { state: 'draining' }), member('c')];
    assert.deepEqual(see({ members: draining, nowMs: 120_000 }).claims, []);
  });

  it('claims the slots of dead and of unknown owners', () => {
    const members = [member('a'), member('b', { state: 'dead' })];
    const alone = see({ members, rows: rowsOf((slot) => row(slot, 'b')) });
    assert.deepEqual([alone.claims, alone.leavesClaims], [ALL, false]);
    assert.deepEqual(see({ members: [member('a')], rows: rowsOf((slot) => row(slot, 'z')) }).claims, ALL);
  });

  it('foresees the slots that it would claim if a silent owner were dead, and claims none of them yet', () => {
    const owned = (slot: number) => `${rankShards(['a', 'b', 'c'], slot)[0]}`;
    const rows = rowsOf((slot) => row(slot, owned(slot)));
    const served = new Set(ALL.filter((slot) => owned(slot) === 'a'));
    assert.deepEqual(see({ rows, served }).impending, []);
    const plan = see({ suspects: new Set(['inc_b']) });
    const inherited = ALL.filter((slot) => owned(slot) === 'b' && rankShards(['a', 'c'], slot)[0] === 'a');
    assert.ok(inherited.length > 0);
    assert.deepEqual([plan.impending, plan.claims, plan.expected], [inherited, [], []]);
    const both = see({ suspects: new Set(['inc_b', 'inc_c']) });
    assert.deepEqual(
      both.impending,
      ALL.filter((slot) => owned(slot) !== 'a'),
    );
    assert.deepEqual(see({ takes: false }).impending, []);
  });

  it('claims a released slot by rank, soon', () => {
    const names = ['a', 'b', 'c'];
    assert.deepEqual(see({ rows: rowsOf((slot) => row(slot, undefined)) }).claims, ofRank(names, 0));
    assert.deepEqual(
      see({ nowMs: 150 }).claims,
      ALL.filter((slot) => rankOfA(names, slot) <= 1),
    );
    assert.deepEqual(see({ nowMs: 300 }).claims, ALL);
  });

  it('counts the wait of a slot again when its row has changed', () => {
    see({});
    assert.deepEqual(see({ nowMs: 6000 }).claims, ALL);
    see({ rows: rowsOf((slot) => row(slot, 'b')), nowMs: 6100 });
    const dead = [member('a'), member('b', { state: 'dead' }), member('c')];
    const later = see({ members: dead, nowMs: 6200 });
    assert.deepEqual(
      later.claims,
      ALL.filter((slot) => rankShards(['a', 'c'], slot)[0] === 'a'),
    );
    assert.ok(later.claims.length < ALL.length);
  });

  it('opens a slot whose row names it if it is the wanted owner, otherwise hands it over', () => {
    const plan = see({ rows: rowsOf((slot) => row(slot, 'a')) });
    assert.deepEqual(plan.claims, ofRank(['a', 'b', 'c'], 0));
    assert.deepEqual(
      plan.releases.map((release) => release.row.slot),
      ALL.filter((slot) => rankOfA(['a', 'b', 'c'], slot) > 0),
    );
    for (const { row: released, successor } of plan.releases) {
      assert.equal(successor, `inc_${rankShards(['a', 'b', 'c'], released.slot)[0]}`);
    }
  });

  it('hands over exactly what another member wins, and names it', () => {
    const served = new Set(ALL);
    const rows = rowsOf((slot) => row(slot, 'a'));
    assert.deepEqual(see({ members: [member('a')], served, rows }).handovers, []);
    const plan = see({ members: [member('a'), member('d')] });
    assert.deepEqual(
      plan.handovers,
      ALL.filter((slot) => rankShards(['a', 'd'], slot)[0] === 'd').map((slot) => ({ slot, successor: 'inc_d' })),
    );
  });

  it('hands everything over while it drains, to the members that stay; to none if none stays', () => {
    const draining = [member('a', { state: 'draining' }), member('b')];
    const served = new Set(ALL);
    const plan = see({ takes: false, members: draining, served });
    assert.deepEqual(
      plan.handovers,
      ALL.map((slot) => ({ slot, successor: 'inc_b' })),
    );
    assert.deepEqual(plan.claims, []);
    // The others have not read yet that it drains: it does not count itself all the same.
    const untold = see({ members: [member('a'), member('b')] });
    assert.equal(untold.handovers.length, SLOTS);
    const alone = see({ members: [member('a', { state: 'draining' })] });
    assert.deepEqual(
      alone.handovers,
      ALL.map((slot) => ({ slot, successor: undefined })),
    );
  });

  it('does not touch busy slots', () => {
    const served = new Set(ALL.slice(0, 16));
    const plan = see({ members: [member('b')], takes: false, served, busy: new Set(ALL) });
    assert.deepEqual([plan.claims, plan.releases, plan.handovers], [[], [], []]);
    assert.deepEqual(see({ members: [member('a')], takes: true, served: new Set() }).claims, []);
  });

  it('counts the later of two runs of one shard, and no row without a heartbeat', () => {
    const first = member('a', { startedAtMs: 1 });
    const second = member('a', { incarnation: 'inc_a2', startedAtMs: 2 });
    const ghost = member('g', { heartbeat: 0 });
    const candidates = candidatesOf([second, first, ghost, member('d', { state: 'draining' })]);
    assert.deepEqual(
      [...candidates.values()].map(({ incarnation }) => incarnation),
      ['inc_a2'],
    );
    // The earlier run takes nothing more and hands over to the later one.
    const plan = see({ members: [first, second], served: new Set([1]), rows: new Map() });
    assert.deepEqual(plan.claims, []);
    assert.deepEqual(plan.handovers, [{ slot: 1, successor: 'inc_a2' }]);
  });

  it('moves only the share of the member that joins or leaves', () => {
    const before = see({ members: ['a', 'b', 'c'].map((name) => member(name)) }).wanted;
    const after = see({ members: ['a', 'b', 'c', 'd'].map((name) => member(name)) }).wanted;
    for (const slot of after) assert.ok(before.has(slot));
  });
});
