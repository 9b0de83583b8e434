// Questions about the log of a tenant: which flights share one, when it leaves, and that none serves a flight that came
// after it had left.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GrantdError } from '../../../../src/core/errors.ts';
import type { Receiver, ShardLink } from '../../../../src/front/links/shard-link.ts';
import { type ReaderFlight, ReadPositions } from '../../../../src/front/requests/read-positions.ts';
import { noReads } from '../../../../src/front/requests/reader-reads.ts';
import type { ReceivedReply } from '../../../../src/rpc/messages.ts';
import { createMetrics } from '../../../../src/telemetry/metrics.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';

const TENANT = 'ten_1';
const LIMITS = { gatherMs: 4, busyFlights: 12, tenantsMax: 2 };

function setUp() {
  const clock = new VirtualClock();
  const asked: Receiver[] = [];
  let atEnd: (() => void)[] = [];
  const turns = {
    idle: () => true,
    hasTime: () => true,
    run: () => assert.fail('a question takes no turn at a front'),
    atEnd: (send: () => void) => void atEnd.push(send),
    waiting: 0,
    crowding: { add() {}, shares: () => new Map() },
  };
  const link = {
    address: 'owner:1',
    call: (receiver: Receiver) => asked.push(receiver),
    forget() {},
  };
  // Of a link, a question needs no more.
  const route = { slot: 0, epoch: 1, link: link as unknown as ShardLink };
  const positions = new ReadPositions(turns as never, LIMITS);
  const control = { clock, metrics: createMetrics(), reads: noReads() };
  const outcomes: string[] = [];
  const fly = (name: string, tenantId = TENANT): ReaderFlight => {
    const flight: ReaderFlight = {
      settled: false,
      context: { requestId: name, deadlineMs: Number.POSITIVE_INFINITY },
      control,
      state: 'anywhere',
      attempt() {
        const { state } = flight;
        outcomes.push(`${name} ${typeof state === 'object' ? `at ${state.seq}` : state}`);
      },
    };
    positions.ask(route, tenantId, flight);
    return flight;
  };
  /** The end of this turn: what gathers is sent. */
  const endTurn = (): void => {
    const due = atEnd;
    atEnd = [];
    for (const send of due) send();
  };
  const answer = (index: number, seq: number, tenantId = TENANT): void => {
    const position = { tenantId, epoch: 1, seq, nextBase: 1, nowMs: 1, toldReaders: 0 };
    asked[index]?.onReply({ id: 1, position, result: 'position' } as ReceivedReply);
  };
  return { clock, asked, control, outcomes, fly, endTurn, answer };
}

test('what comes until a question leaves shares it, and what comes later waits for the next', () => {
  const { asked, outcomes, fly, endTurn, answer } = setUp();
  fly('a');
  fly('b');
  assert.equal(asked.length, 1);
  endTurn();
  fly('c');
  fly('d');
  assert.equal(asked.length, 1, 'one question at a time');
  answer(0, 5);
  assert.deepEqual(outcomes, ['a at 5', 'b at 5']);
  assert.equal(asked.length, 2);
  fly('e');
  endTurn();
  fly('f');
  answer(1, 7);
  assert.deepEqual(outcomes.slice(2), ['c at 7', 'd at 7', 'e at 7']);
  answer(2, 9);
  assert.deepEqual(outcomes.slice(5), ['f at 9']);
});

test('an answer that overtakes the end of the turn serves nobody who comes after it', () => {
  const { asked, outcomes, fly, endTurn, answer } = setUp();
  fly('a');
  answer(0, 5);
  fly('b');
  assert.deepEqual([outcomes, asked.length], [['a at 5'], 2]);
  endTurn();
  answer(1, 6);
  assert.deepEqual(outcomes, ['a at 5', 'b at 6']);
});

test('the flights of a busy tenant gather for some milliseconds, those of others for none', async () => {
  const { clock, asked, outcomes, fly, endTurn, answer } = setUp();
  for (let flight = 0; flight < LIMITS.busyFlights; flight += 1) fly(`a${flight}`);
  endTurn();
  answer(0, 1);
  fly('b');
  assert.equal(asked.length, 1, 'it waits, beside those that come in this time');
  await clock.advance(LIMITS.gatherMs - 1);
  fly('c');
  assert.equal(asked.length, 1);
  await clock.advance(1);
  assert.equal(asked.length, 2);
  endTurn();
  answer(1, 2);
  assert.deepEqual(outcomes.slice(LIMITS.busyFlights), ['b at 2', 'c at 2']);
  await clock.advance(2 * LIMITS.gatherMs);
  for (const [index, name] of ['d', 'e'].entries()) {
    fly(name);
    assert.equal(asked.length, 3 + index, 'there are few now');
    endTurn();
    answer(2 + index, 3);
  }
});

test('without an answer about its tenant, a flight goes to the owner, and no question is asked for those that ended', () => {
  const { asked, control, outcomes, fly, endTurn, answer } = setUp();
  fly('a');
  endTurn();
  const ended = fly('ended');
  Object.assign(ended, { settled: true });
  asked[0]?.onFailure(new GrantdError('overloaded', 'Too much is going on.'));
  assert.deepEqual([outcomes, control.reads.unconfirmed, asked.length], [['a owner-only'], 1, 1]);
  fly('b');
  endTurn();
  answer(1, 5, 'ten_2');
  assert.deepEqual(outcomes.slice(1), ['b owner-only']);
});

test('a tenant that waits for a question is never forgotten', () => {
  const { asked, outcomes, fly, endTurn, answer } = setUp();
  for (const tenant of ['ten_1', 'ten_2', 'ten_3']) fly(tenant, tenant);
  endTurn();
  fly('late');
  assert.equal(asked.length, 3, 'the question that has left is still its own');
  answer(0, 5);
  answer(3, 6);
  assert.deepEqual(outcomes, ['ten_1 at 5', 'late at 6']);
});
