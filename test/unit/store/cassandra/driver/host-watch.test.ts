// Which nodes answer, on a clock of the test's.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HostWatch } from '../../../../../src/store/cassandra/driver/host-watch.ts';
import { VirtualClock } from '../../../../kit/virtual-clock.ts';

function watchTwo() {
  const clock = new VirtualClock();
  const hosts = new Set(['one', 'two']);
  const told: string[] = [];
  const waiting = new Map<string, () => void>();
  const paused = new Set<string>();
  const watch = new HostWatch({
    clock,
    hosts: () => [...hosts],
    probe: (address) =>
      paused.has(address) ? new Promise((resolve) => void waiting.set(address, resolve)) : Promise.resolve(),
    onLate: (address) => void told.push(`${address} late`),
    onSilent: (address) => void told.push(`${address} silent`),
  });
  watch.start();
  return { clock, hosts, told, watch, paused, answer: (address: string) => waiting.get(address)?.() };
}

describe('the watch over nodes', () => {
  it('says nothing of nodes that answer', async () => {
    const { clock, told, watch } = watchTwo();
    await clock.advance(10_000);
    assert.deepEqual(told, []);
    assert.equal(watch.isAnyLate, false);
    watch.stop();
  });

  it('tells of a node that falls silent, once each time, within a second and two, and trusts it again when it answers', async () => {
    const { clock, told, watch, paused, answer } = watchTwo();
    paused.add('two');
    await clock.advance(1000);
    assert.deepEqual(told, ['two late']);
    assert.ok(watch.isDoubtful('two') && !watch.isDoubtful('one'));
    await clock.advance(1000);
    assert.deepEqual(told, ['two late', 'two silent']);
    await clock.advance(10_000);
    assert.equal(told.length, 2);
    paused.delete('two');
    answer('two');
    await clock.advance(0);
    assert.equal(watch.isDoubtful('two'), false);
    watch.stop();
  });

  it('blames no node for time in which this process did not run', async () => {
    const { clock, told, watch, paused, answer } = watchTwo();
    paused.add('one').add('two');
    await clock.advance(260);
    clock.stall(10_000);
    // The answers have arrived meanwhile: they are read after the timers, before anything is concluded.
    const concluded = clock.advance(0);
    answer('one');
    answer('two');
    await concluded;
    assert.deepEqual(told, []);
    watch.stop();
  });

  it('asks a node last for a while after a call to it has timed out', async () => {
    const { clock, watch } = watchTwo();
    watch.penalize('one');
    assert.ok(watch.isDoubtful('one'));
    await clock.advance(2001);
    assert.equal(watch.isDoubtful('one'), false);
    watch.stop();
  });

  it('forgets a node that the driver has given up', async () => {
    const { clock, hosts, watch, paused } = watchTwo();
    paused.add('two');
    await clock.advance(1000);
    assert.ok(watch.isAnyLate);
    hosts.delete('two');
    await clock.advance(250);
    assert.equal(watch.isAnyLate, false);
    watch.stop();
  });
});
