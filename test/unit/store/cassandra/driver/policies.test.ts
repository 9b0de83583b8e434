// What the driver may decide by itself.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import cassandra from 'cassandra-driver';
import {
  createReconnection,
  NextHostRetry,
  ReadSpeculation,
} from '../../../../../src/store/cassandra/driver/policies.ts';

const { serial, quorum } = cassandra.types.consistencies;
const info = (nbRetry: number) => ({ nbRetry }) as cassandra.policies.retry.OperationInfo;

describe('repeating what is safe to repeat', () => {
  it('goes to the next node once, at the level that was asked for, whatever level the error names', () => {
    const retry = new NextHostRetry();
    const again = { decision: 1, consistency: undefined, useCurrentHost: false };
    assert.deepEqual(retry.onReadTimeout(info(0), quorum, 1, 2, false), again);
    assert.deepEqual(retry.onWriteTimeout(info(0), serial, 1, 2, 'SIMPLE'), again);
    assert.deepEqual(retry.onUnavailable(info(0), quorum, 2, true), again);
    for (const decision of [
      retry.onReadTimeout(info(1), quorum, 1, 2, false),
      retry.onWriteTimeout(info(1), quorum, 1, 2, 'SIMPLE'),
      retry.onUnavailable(info(1), quorum, 2, true),
    ]) {
      assert.equal(decision.decision, 0);
    }
  });

  it('asks a second node early for reads only', () => {
    const speculation = new ReadSpeculation();
    const read = speculation.newPlan('', 'SELECT x FROM y');
    assert.ok(read.nextExecution() > 0);
    assert.ok(read.nextExecution() < 0);
    assert.ok(speculation.newPlan('', 'INSERT INTO y').nextExecution() < 0);
    assert.ok(speculation.newPlan('', [{}]).nextExecution() < 0);
  });

  it('reconnects at a constant pace, so that processes come back together after an outage', () => {
    const schedule = createReconnection().newSchedule();
    const delays = Array.from({ length: 100 }, () => schedule.next().value);
    assert.deepEqual(new Set(delays), new Set([500]));
  });
});
