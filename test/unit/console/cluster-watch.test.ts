// What the cluster page sees: one look for all who ask, samples whoever looks, and what was seen last while nobody
// responds.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { ClusterWatch } from '../../../packages/console/src/cluster-watch.ts';
import { GrantdError } from '../../../src/core/errors.ts';
import { IdFactory } from '../../../src/core/ids.ts';
import type { ClusterPicture } from '../../../src/front/front.ts';
import { systemRandom } from '../../../src/roles/process/system.ts';
import { ScriptedOperator } from '../../kit/scripted-operator.ts';
import { VirtualClock } from '../../kit/virtual-clock.ts';
import { loadOf, slotView } from './cluster-picture.ts';

const HOUR_MS = 3_600_000;

describe('the watch', () => {
  let clock: VirtualClock;
  let operator: ScriptedOperator;
  let watch: ClusterWatch;
  beforeEach(() => {
    clock = new VirtualClock();
    operator = new ScriptedOperator(clock, systemRandom);
    watch = new ClusterWatch({ operator, clock, ids: new IdFactory(clock, systemRandom) });
  });
  const own = (...owners: readonly (string | undefined)[]): void => {
    operator.slots = owners.map((name, slot) => slotView(slot, name));
  };
  async function lookLater() {
    clock.stall(1000);
    return watch.look();
  }
  /** No shard responds, until the deadline of each look. */
  const fallSilent = (): void => {
    operator.onSurvey = () =>
      new Promise<ClusterPicture>((_, reject) => {
        const { deadlineMs = 0 } = operator.surveys.at(-1) ?? {};
        clock.setTimer(() => reject(new GrantdError('unavailable', 'x')), deadlineMs - clock.monotonicMs());
      });
  };

  it('asks once for all who look within a second', async () => {
    own('a');
    await Promise.all([watch.look(), watch.look()]);
    clock.stall(999);
    await watch.look();
    assert.equal(operator.surveys.length, 1);
    clock.stall(1);
    await watch.look();
    assert.equal(operator.surveys.length, 2);
  });

  it('asks once at a time, however long nobody responds', async () => {
    fallSilent();
    watch.start();
    const asked = Array.from({ length: 3 }, async () => {
      clock.stall(1000);
      await watch.look();
    });
    assert.equal(operator.surveys.length, 1);
    const outcomes = Promise.allSettled(asked);
    await clock.advance(10_000);
    assert.deepEqual(
      (await outcomes).map(({ status }) => status),
      ['rejected', 'rejected', 'rejected'],
    );
    // Those who look by themselves go on, one every five seconds.
    const before = operator.surveys.length;
    await clock.advance(60_000);
    assert.equal(operator.surveys.length - before, 12);
    assert.equal(clock.timers, 1);
    watch.close();
  });

  it('takes a sample every five seconds though nobody looks, for an hour, and none after its end', async () => {
    own('a', undefined);
    operator.loads = [loadOf('a', { checksPerSecond: 7, p99Ms: 2 }), loadOf('b', { checksPerSecond: 3, p99Ms: 9 })];
    watch.start();
    await clock.advance(60_000);
    assert.equal(watch.samples().length, 13);
    const { atMs, ...figures } = watch.samples().at(-1) ?? { atMs: 0 };
    assert.deepEqual(figures, { checksPerSecond: 10, p99Ms: 9, failuresPerSecond: 0, slotsDown: 1, lag: undefined });
    assert.equal(atMs, clock.wallMs());
    await clock.advance(2 * HOUR_MS);
    assert.equal(watch.samples().length, 720);
    assert.equal(clock.wallMs() - (watch.samples()[0]?.atMs ?? 0), HOUR_MS - 5000);
    const { length } = operator.surveys;
    watch.close();
    await clock.advance(60_000);
    assert.deepEqual([operator.surveys.length, clock.timers], [length, 0]);
  });

  it('takes no sample of a look that was in flight at its end', async () => {
    let respond = (): void => {};
    operator.onSurvey = () =>
      new Promise((resolve) => {
        respond = () => resolve({ slots: [], members: [], loads: [] });
      });
    watch.start();
    watch.close();
    respond();
    await clock.advance(60_000);
    assert.deepEqual([watch.samples().length, operator.surveys.length, clock.timers], [0, 1, 0]);
  });

  it('leaves out what it could not sample, and keeps what it saw last', async () => {
    own('a');
    watch.start();
    await clock.advance(10_000);
    const sampled = watch.samples().length;
    fallSilent();
    await clock.advance(60_000);
    assert.equal(watch.samples().length, sampled);
    assert.equal(watch.last?.slots.length, 1);
    assert.equal(clock.wallMs() - (watch.last?.atMs ?? 0), 60_000);
    operator.onSurvey = undefined;
    await clock.advance(10_000);
    assert.ok(watch.samples().length > sampled);
    watch.close();
  });

  it('lets every shard keep its colour, whoever comes and goes', async () => {
    own('b', 'c');
    const before = (await watch.look()).colours;
    own('a', 'c');
    const { colours } = await lookLater();
    assert.equal(colours.get('c'), before.get('c'));
    assert.equal(new Set(colours.values()).size, 3);
  });

  it('keeps what a shard said last while that one does not respond', async () => {
    own('a', 'b');
    operator.loads = [loadOf('a', { checksPerSecond: 1 }), loadOf('b', { checksPerSecond: 2 })];
    const first = await watch.look();
    operator.loads = [loadOf('a', { checksPerSecond: 5 })];
    const { lastFigures, atMs } = await lookLater();
    const said = (name: string) => [lastFigures.get(name)?.load.checksPerSecond, lastFigures.get(name)?.atMs];
    assert.deepEqual(said('a'), [5, atMs]);
    assert.deepEqual(said('b'), [2, first.atMs]);
    clock.stall(HOUR_MS);
    assert.deepEqual([...(await lookLater()).lastFigures.keys()], ['a']);
  });

  it('does without members and loads where they cannot be had', async () => {
    operator.onSurvey = async () => ({ slots: [slotView(0, 'a')], members: undefined, loads: undefined });
    const look = await watch.look();
    assert.deepEqual([look.members, look.loads, look.slots.length], [undefined, undefined, 1]);
    watch.start();
    await clock.advance(5000);
    const { checksPerSecond, p99Ms, slotsDown } = watch.samples()[0] ?? {};
    assert.deepEqual([checksPerSecond, p99Ms, slotsDown], [undefined, undefined, 0]);
    watch.close();
  });

  it('asks again at once where no shard answered', async () => {
    operator.onSurvey = () => Promise.reject(new GrantdError('unavailable', 'x'));
    await assert.rejects(watch.look(), { code: 'unavailable' });
    operator.onSurvey = undefined;
    own('a');
    assert.equal((await watch.look()).slots.length, 1);
  });
});
