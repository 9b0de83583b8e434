// The last hour: a bounded ring of samples, and what happened to slots and shards between two looks.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ClusterHistory,
  type Figures,
  HISTORY_MS,
  SAMPLE_INTERVAL_MS,
} from '../../../packages/console/src/cluster-history.ts';
import type { MemberView } from '../../../src/front/front.ts';
import { memberView, slotView } from './cluster-picture.ts';

const START = 1_700_000_000_000;
const figures = (checksPerSecond: number | undefined): Figures => ({
  checksPerSecond,
  p99Ms: undefined,
  failuresPerSecond: 0,
  slotsDown: 0,
  lag: 0,
});

describe('samples', () => {
  it('are those of the hour, oldest first, each at its own time', () => {
    const history = new ClusterHistory();
    let nowMs = START;
    for (let index = 0; index < 2000; index += 1) {
      nowMs += SAMPLE_INTERVAL_MS;
      history.addSample(nowMs, figures(index));
    }
    const samples = history.samples(nowMs);
    assert.equal(samples.length, HISTORY_MS / SAMPLE_INTERVAL_MS);
    assert.deepEqual([samples[0]?.checksPerSecond, samples.at(-1)?.checksPerSecond], [1280, 1999]);
    for (const { atMs, checksPerSecond = 0 } of samples) {
      assert.equal(atMs, START + (checksPerSecond + 1) * SAMPLE_INTERVAL_MS);
    }
    assert.equal(history.samples(nowMs + HISTORY_MS / 2).length, samples.length / 2);
    assert.deepEqual(history.samples(nowMs + HISTORY_MS), []);
  });

  it('say what is not known as such, and zero as zero', () => {
    const history = new ClusterHistory();
    history.addSample(START, figures(undefined));
    const { checksPerSecond, p99Ms, failuresPerSecond } = history.samples(START)[0] ?? {};
    assert.deepEqual([checksPerSecond, p99Ms, failuresPerSecond], [undefined, undefined, 0]);
  });

  it('of a clock that was set back do not stand in its future', () => {
    const history = new ClusterHistory();
    for (let index = 0; index < 10; index += 1) history.addSample(START + index * 5000, figures(index));
    history.addSample(START + 12_000, figures(99));
    assert.deepEqual(
      history.samples(START + 60_000).map(({ checksPerSecond }) => checksPerSecond),
      [0, 1, 2, 99],
    );
  });
});

describe('events', () => {
  const slots = (...owners: readonly (string | undefined)[]) => owners.map((name, slot) => slotView(slot, name));
  const kinds = (history: ClusterHistory): readonly string[] =>
    history.events(START).map((event) => (event.kind === 'moved' ? 'moved' : `${event.kind} ${event.shardName}`));
  /** The members at one look after the other, from the second look on. */
  function lifeOf(...looks: readonly (readonly MemberView[] | undefined)[]): readonly string[] {
    const history = new ClusterHistory();
    for (const members of looks) history.noteChanges(START, { slots: [], members, loads: [] });
    return kinds(history);
  }

  it('tell moves newest first, slots of one move together', () => {
    const history = new ClusterHistory();
    history.noteChanges(START, { slots: slots('a', 'a', 'b', undefined), members: undefined, loads: [] });
    assert.deepEqual(history.events(START), []);
    history.noteChanges(START + 5000, { slots: slots('b', 'b', 'b', 'b'), members: undefined, loads: [] });
    const moved = { kind: 'moved', atMs: START + 5000, afterMs: START } as const;
    const first = [
      { ...moved, slots: [0, 1], slotCount: 2, from: 'a', to: 'b' },
      { ...moved, slots: [3], slotCount: 1, from: undefined, to: 'b' },
    ];
    assert.deepEqual(history.events(START), first);
    history.noteChanges(START + 9000, { slots: slots('b', 'b', 'a', 'b'), members: undefined, loads: [] });
    const [last, ...others] = history.events(START);
    assert.deepEqual(last, {
      ...moved,
      atMs: START + 9000,
      afterMs: START + 5000,
      slots: [2],
      slotCount: 1,
      from: 'b',
      to: 'a',
    });
    assert.deepEqual(others, first);
  });

  it('are bounded in number, and in the slots that one names', () => {
    const history = new ClusterHistory();
    for (let round = 0; round < 400; round += 1) {
      const owner = round % 2 === 0 ? 'a' : 'b';
      history.noteChanges(START + round, { slots: slots(...Array(512).fill(owner)), members: [], loads: [] });
    }
    const events = history.events(START);
    assert.equal(events.length, 256);
    assert.equal(events[0]?.atMs, START + 399);
    for (const event of events)
      assert.ok(event.kind === 'moved' && event.slotCount === 512 && event.slots.length === 8);
  });

  it('tell who was lost, and who left after handing over', () => {
    const [a, b] = [memberView('a', 'alive'), memberView('b', 'alive')];
    assert.deepEqual(lifeOf([a, b], [a, memberView('b', 'dead')], [a]), ['lost b']);
    assert.deepEqual(lifeOf([a, b], [a, memberView('b', 'draining')], [a, memberView('b', 'dead')]), [
      'left b',
      'draining b',
    ]);
    assert.deepEqual(lifeOf([a], [a, b], [a, b]), ['joined b']);
    const again = memberView('b', 'alive', 2);
    assert.deepEqual(lifeOf([a, b], [a, b, again], [a, memberView('b', 'dead'), again]), ['lost b', 'joined b']);
  });

  it('tell nothing of what was so before the first look, or of looks without members', () => {
    const [a, dead] = [memberView('a', 'alive'), memberView('b', 'dead')];
    assert.deepEqual(lifeOf([a, dead], [a, dead], [a]), []);
    assert.deepEqual(lifeOf([a], undefined, [a]), []);
    assert.deepEqual(lifeOf([a], undefined, [memberView('a', 'dead')]), ['lost a']);
    // Dead, and never seen alive: it was so before, or it came and went between two looks.
    assert.deepEqual(lifeOf([a], [a, dead]), []);
  });
});
