// Statements, their levels and their deadlines, over a driver that answers when a test says so.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import cassandra from 'cassandra-driver';
import { GrantdError } from '../../../../../src/core/errors.ts';
import { SchemaMissing } from '../../../../../src/store/cassandra/driver/errors.ts';
import { createSession } from '../fake-driver.ts';

const { errors, policies, types } = cassandra;
const { serial, quorum, all } = types.consistencies;

const hasCode = (code: string) => (error: unknown) => error instanceof GrantdError && error.code === code;
const isUnavailable = hasCode('unavailable');
/** A rejection that is looked at later is not an unhandled one. */
const held = <Value>(promise: Promise<Value>): Promise<Value> => {
  promise.catch(() => {});
  return promise;
};

describe('a session with Cassandra', () => {
  it('asks at the level that each kind of call needs, and never at the default of the driver', async () => {
    const { executor, calls, soon } = createSession();
    void held(executor.conditional('LWT', [], soon()));
    void held(executor.readSerial('SELECT', [], soon()));
    void held(executor.read('SELECT', [], soon()));
    void held(executor.write('INSERT', [], soon()));
    void held(executor.writeToAll('DELETE', [], soon()));
    void held(executor.writeBatch([{ query: 'A', params: [] }], soon()));
    await Promise.resolve();
    assert.deepEqual(
      calls.map(({ options }) => [options.consistency, options.serialConsistency, options.isIdempotent]),
      [
        [quorum, serial, false],
        [serial, undefined, true],
        [quorum, undefined, true],
        [quorum, undefined, true],
        [all, undefined, true],
        [quorum, undefined, true],
      ],
    );
    assert.ok(calls.every(({ options }) => options.prepare === true && options.readTimeout === 5000));
  });

  it('ends each call at its deadline, whatever the driver does, and ignores what comes later', async () => {
    const { executor, calls, clock, timedOut, soon } = createSession();
    const call = held(executor.read('SELECT', [], soon()));
    await clock.advance(0);
    calls[0]?.goesTo('one');
    await clock.advance(4999);
    assert.equal(calls.length, 1);
    await clock.advance(1);
    await assert.rejects(call, isUnavailable);
    assert.deepEqual(timedOut, ['one']);
    calls[0]?.answer({ late: true });
    await clock.advance(1);
    assert.equal(clock.timers, 0);
  });

  it('asks nothing once the deadline has passed', async () => {
    const { executor, calls, clock } = createSession();
    await assert.rejects(executor.conditional('LWT', [], clock.monotonicMs()), isUnavailable);
    assert.equal(calls.length, 0);
  });

  it('sends a conditional write once: a late node is waited for, a silent one makes an unknown outcome', async () => {
    const { executor, calls, clock, soon } = createSession();
    const call = held(executor.conditional('LWT', [], soon()));
    await clock.advance(0);
    calls[0]?.goesTo('one');
    executor.leaveHost('one');
    executor.giveUpHost('another');
    await clock.advance(100);
    assert.equal(calls.length, 1);
    executor.giveUpHost('one');
    await assert.rejects(call, isUnavailable);
    assert.equal(calls.length, 1);
    assert.ok(calls[0]?.options.retry instanceof policies.retry.FallthroughRetryPolicy, 'the driver repeats nothing');
  });

  it('takes a read to another node when the first is late, three in all, and takes the first answer', async () => {
    const { executor, calls, clock, soon } = createSession();
    const call = held(executor.read('SELECT', [], soon()));
    await clock.advance(0);
    for (const host of ['one', 'two', 'three']) {
      calls.at(-1)?.goesTo(host);
      executor.leaveHost(host);
      await clock.advance(0);
    }
    assert.equal(calls.length, 3);
    calls[0]?.answer({ from: 'one, too late' });
    calls[2]?.answer({ from: 'three' });
    assert.deepEqual((await call).rows, [{ from: 'three' }]);
  });

  it('says what a failure means: unknown where it may have been done, overloaded where it was never sent', async () => {
    const cases: readonly (readonly [unknown, string])[] = [
      [new errors.ResponseError(types.responseErrorCodes.writeTimeout, 'timeout'), 'unavailable'],
      [new errors.OperationTimedOutError('no reply'), 'unavailable'],
      [new errors.NoHostAvailableError({ one: new errors.BusyConnectionError('one', 1, 1) }), 'overloaded'],
      [
        new errors.NoHostAvailableError({
          one: new errors.BusyConnectionError('one', 1, 1),
          two: 'Host considered as DOWN',
        }),
        'overloaded',
      ],
      [
        new errors.NoHostAvailableError({
          one: new errors.BusyConnectionError('one', 1, 1),
          two: new Error('Socket was closed'),
        }),
        'unavailable',
      ],
      [new errors.NoHostAvailableError({}), 'unavailable'],
      [new Error('anything'), 'unavailable'],
    ];
    for (const [error, code] of cases) {
      const { executor, calls, clock, soon } = createSession();
      const call = held(executor.conditional('LWT', [], soon()));
      await clock.advance(0);
      calls[0]?.fail(error);
      await assert.rejects(call, hasCode(code));
    }
  });

  it('tells a missing table from an outage', async () => {
    for (const message of ['keyspace grantd does not exist', 'table meta does not exist', 'unconfigured table meta']) {
      const { executor, calls, clock, log, soon } = createSession();
      const call = held(executor.read('SELECT', [], soon()));
      await clock.advance(0);
      calls[0]?.fail(new errors.ResponseError(types.responseErrorCodes.invalid, message));
      await assert.rejects(call, SchemaMissing);
      assert.deepEqual(log.lines, []);
    }
  });

  it('logs a failure once while it goes on, without what was asked, and its end', async () => {
    const { executor, calls, clock, log, soon } = createSession();
    for (let round = 0; round < 20; round += 1) {
      const call = held(executor.read('SELECT', ['a secret value'], soon()));
      await clock.advance(0);
      const error = Object.assign(new errors.OperationTimedOutError('no reply\n{ query: … }'), {
        query: 'a secret value',
      });
      calls.at(-1)?.fail(error);
      await assert.rejects(call);
      await clock.advance(100);
    }
    assert.equal(log.lines.length, 1);
    assert.doesNotMatch(log.lines.join(), /secret|query/);
    await clock.advance(10_000);
    const call = held(executor.read('SELECT', [], soon()));
    await clock.advance(0);
    calls.at(-1)?.answer();
    await call;
    assert.match(log.lines.at(-1) ?? '', /^info: the store has recovered/);
  });

  it('bounds what is in flight and what waits', async () => {
    const { executor, calls, clock, soon } = createSession();
    const begun = Array.from({ length: 1024 + 8192 }, () => held(executor.read('SELECT', [], soon())));
    await clock.advance(0);
    assert.equal(calls.length, 1024);
    await assert.rejects(executor.read('SELECT', [], soon()), hasCode('overloaded'));
    calls[0]?.answer();
    await begun[0];
    await clock.advance(0);
    assert.equal(calls.length, 1025);
    await clock.advance(5000);
    const outcomes = await Promise.allSettled(begun);
    assert.equal(outcomes.filter(({ status }) => status === 'rejected').length, begun.length - 1);
  });

  it('ends everything when it is closed', async () => {
    const { executor, clock, soon } = createSession();
    const call = held(executor.conditional('LWT', [], soon()));
    await clock.advance(0);
    executor.close();
    await assert.rejects(call, isUnavailable);
    await assert.rejects(executor.read('SELECT', [], soon()), isUnavailable);
    await clock.advance(0);
    assert.equal(clock.timers, 0);
  });
});
