// Readiness of a process, and how a front is judged by the shards it reaches.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { INCOMPLETE, NO_SHARD, type Reach, Readiness, watchReach } from '../../../../src/roles/process/readiness.ts';
import { createLog } from '../../../../src/telemetry/log.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';

const log = createLog({ level: 'silent', pretty: false });

describe('readiness', () => {
  it('reports what it waits for until it serves, then the result of its checks', () => {
    const readiness = new Readiness(log);
    assert.deepEqual(readiness.reasons(), ['starting']);
    readiness.wait('waiting for the schema');
    assert.deepEqual(readiness.reasons(), ['waiting for the schema']);
    let reason: string | undefined;
    readiness.serve(() => reason);
    assert.deepEqual(readiness.reasons(), []);
    reason = 'cut off';
    assert.deepEqual(readiness.reasons(), ['cut off']);
    readiness.wait('too late');
    assert.deepEqual(readiness.reasons(), ['cut off']);
  });

  it('ends once it stops, whatever comes later', () => {
    const readiness = new Readiness(log);
    readiness.stop();
    readiness.wait('waiting');
    readiness.serve(() => undefined);
    assert.deepEqual(readiness.reasons(), ['stopping']);
  });

  it('logs each reason once, when it begins', () => {
    const logged: unknown[] = [];
    const readiness = new Readiness({ ...log, info: (fields: unknown) => logged.push(fields) });
    for (const reason of ['a', 'a', 'b', 'a']) readiness.wait(reason);
    assert.deepEqual(logged, [{ reason: 'a' }, { reason: 'b' }, { reason: 'a' }]);
  });
});

describe('the reach of a front', () => {
  let clock: VirtualClock;
  let front: { complete: boolean; reaches: boolean };
  let reach: Reach;
  beforeEach(() => {
    clock = new VirtualClock();
    front = { complete: false, reaches: false };
    reach = watchReach(clock, { complete: () => front.complete, reachesShards: () => front.reaches });
  });

  it('is sufficient once it reaches an owner of every slot', async () => {
    await clock.advance(5000);
    assert.equal(reach.judge(), NO_SHARD);
    front.reaches = true;
    await clock.advance(1000);
    assert.equal(reach.judge(), INCOMPLETE);
    front.complete = true;
    assert.equal(reach.judge(), undefined);
  });

  it('stays sufficient while slots change owners or have none', async () => {
    Object.assign(front, { reaches: true, complete: true });
    await clock.advance(100);
    front.complete = false;
    await clock.advance(600_000);
    assert.equal(reach.judge(), undefined);
  });

  it('is sufficient after half a minute if only some slots have an owner', async () => {
    await clock.advance(60_000);
    front.reaches = true;
    await clock.advance(29_000);
    assert.equal(reach.judge(), INCOMPLETE);
    await clock.advance(2000);
    assert.equal(reach.judge(), undefined);
  });

  it('ends if it has reached no shard for longer than a request may take, and returns with the first', async () => {
    Object.assign(front, { reaches: true, complete: true });
    await clock.advance(100);
    Object.assign(front, { reaches: false, complete: false });
    await clock.advance(9_900);
    assert.equal(reach.judge(), undefined);
    await clock.advance(400);
    assert.equal(reach.judge(), NO_SHARD);
    front.reaches = true;
    await clock.advance(100);
    assert.equal(reach.judge(), undefined);
  });

  it('is watched no more once it is closed', () => {
    reach.close();
    assert.equal(clock.timers, 0);
  });
});
