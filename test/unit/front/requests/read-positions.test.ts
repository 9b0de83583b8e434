// Questions about the log of a tenant: which flights share one, when it leaves, and that none serves a flight that came
// after it had left, but within the promise of the owner.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GrantdError } from '../../../../src/core/errors.ts';
import type { Route } from '../../../../src/front/links/routing-table.ts';
import type { Receiver, ShardLink } from '../../../../src/front/links/shard-link.ts';
import { type ReaderFlight, ReadPositions } from '../../../../src/front/requests/read-positions.ts';
import { noReads } from '../../../../src/front/requests/reader-reads.ts';
import type { ReceivedReply } from '../../../../src/rpc/messages.ts';
import { QUIET_SLACK_MS } from '../../../../src/shard/shard.ts';
import { createMetrics } from '../../../../src/telemetry/metrics.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';

const TENANT = 'ten_1';
/** The owner's time in its answers. */
const NOW_MS = 5000;
const QUIET_MS = 40;
const LIMITS = { gatherMs: 4, busyFlights: 12, tenantsMax: 2 };

/** Of a flight: when its key ends, and another owner than the first. */
interface Way {
  readonly keyEndsMs?: number;
  readonly route?: Route;
}

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
  const route: Route = { slot: 0, epoch: 1, link: link as unknown as ShardLink };
  const positions = new ReadPositions(turns as never, LIMITS);
  const control = { clock, metrics: createMetrics(), reads: noReads() };
  const outcomes: string[] = [];
  const fly = (name: string, tenantId = TENANT, { keyEndsMs, route: to = route }: Way = {}): ReaderFlight => {
    const take = (): void => {
      const taken = positions.take(to, tenantId, flight, keyEndsMs);
      if (taken !== undefined) outcomes.push(`${name} at ${taken.seq}`);
    };
    const flight: ReaderFlight = {
      settled: false,
      context: { requestId: name, deadlineMs: Number.POSITIVE_INFINITY },
      control,
      state: 'anywhere',
      attempt() {
        const { state } = flight;
        if (state === 'anywhere') take();
        else outcomes.push(`${name} ${typeof state === 'object' ? `at ${state.seq}` : state}`);
      },
    };
    take();
    return flight;
  };
  /** The end of this turn: what gathers is sent. */
  const endTurn = (): void => {
    const due = atEnd;
    atEnd = [];
    for (const send of due) send();
  };
  const answer = (index: number, seq: number, tenantId = TENANT, quietMs = 0): void => {
    const position = { tenantId, epoch: 1, seq, nextBase: 1, nowMs: NOW_MS, toldReaders: 0, quietMs };
    asked[index]?.onReply({ id: 1, position, result: 'position' } as ReceivedReply);
  };
  return { clock, asked, control, outcomes, fly, endTurn, answer, route };
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

test('a promise serves flights without a question for nine tenths of its time, from before the question left', async () => {
  const { clock, asked, outcomes, fly, endTurn, answer } = setUp();
  fly('a');
  endTurn();
  await clock.advance(10);
  fly('b');
  answer(0, 5, TENANT, QUIET_MS);
  assert.deepEqual(outcomes, ['a at 5', 'b at 5'], 'b came after the question had left, within the promise');
  await clock.advance(25);
  fly('c');
  assert.deepEqual([outcomes.at(-1), asked.length], ['c at 5', 1]);
  await clock.advance(1);
  fly('d');
  assert.deepEqual([outcomes.length, asked.length], [3, 2]);
  endTurn();
  await clock.advance(QUIET_MS);
  fly('e');
  answer(1, 6, TENANT, QUIET_MS);
  assert.deepEqual([outcomes.slice(3), asked.length], [['d at 6'], 3], 'the answer came too late for e');
});

test('a promise serves nobody whose clocks do not agree that it lasts', async () => {
  for (const jumpMs of [QUIET_MS, -2]) {
    const { clock, asked, outcomes, fly, endTurn, answer } = setUp();
    fly('a');
    endTurn();
    answer(0, 5, TENANT, QUIET_MS);
    clock.wallOffsetMs += jumpMs;
    fly('b');
    assert.deepEqual([outcomes, asked.length], [['a at 5'], 2], `after a jump by ${jumpMs} ms`);
  }
});

test('a promise serves no key that may end meanwhile, no other tenant and no other owner', () => {
  const { asked, outcomes, fly, endTurn, answer, route } = setUp();
  fly('a');
  endTurn();
  answer(0, 5, TENANT, QUIET_MS);
  const lastMs = NOW_MS + QUIET_MS + QUIET_SLACK_MS;
  fly('lasting', TENANT, { keyEndsMs: lastMs + 1 });
  assert.deepEqual(outcomes, ['a at 5', 'lasting at 5']);
  fly('ending', TENANT, { keyEndsMs: lastMs });
  fly('other', 'ten_2');
  endTurn();
  assert.deepEqual([outcomes.length, asked.length], [2, 3]);
  answer(1, 6, TENANT, QUIET_MS);
  assert.deepEqual(outcomes.slice(2), ['ending at 6']);
  fly('later epoch', TENANT, { route: { ...route, epoch: 2 } });
  assert.deepEqual([outcomes.length, asked.length], [3, 4]);
});

test('an answer without a promise ends the one before', () => {
  const { asked, outcomes, fly, endTurn, answer } = setUp();
  fly('a');
  endTurn();
  answer(0, 5, TENANT, QUIET_MS);
  fly('ending', TENANT, { keyEndsMs: 0 });
  endTurn();
  answer(1, 6);
  fly('b');
  assert.deepEqual([outcomes, asked.length], [['a at 5', 'ending at 6'], 3]);
});
