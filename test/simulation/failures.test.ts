// What fails a run besides a wrong answer: errors that no fault explains, defects that something caught, and rows of
// the store that break its rules.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { GrantdError } from '../../src/core/errors.ts';
import { ShardFailure } from '../../src/shard/shard.ts';
import { MemoryStore } from '../kit/store/memory-store.ts';
import { createMember, createRecord, META } from '../kit/store/store-fixtures.ts';
import { createProcessLog } from './process-log.ts';
import type { Focus } from './profile.ts';
import { Scheduler } from './scheduler.ts';
import { SeededRandom } from './seeded-random.ts';
import { StoreRules } from './store-rules.ts';
import { Trace } from './trace.ts';

const failures: string[] = [];
const report = (failure: string): void => void failures.push(failure);
const scheduler = new Scheduler(new SeededRandom('failures'));
const NEVER = Number.POSITIVE_INFINITY;

beforeEach(() => failures.splice(0));

function createLog(focus: Focus = 'broad') {
  return createProcessLog('shard', new Trace(scheduler, undefined, report), focus);
}

const NOT_OPENED = 'cannot open or release the slot; retrying';
const UNREADABLE = Object.assign(new Error('The log of slot 1 has a gap.'), { name: 'LogUnreadableError' });

test('a session that ends fails a run in which nothing lasts as long as a lease', () => {
  const over = { reason: 'Another member declared this one dead.' };
  createLog().error(over, 'the membership session ended');
  assert.deepEqual(failures, []);
  createLog('stalls').error(over, 'the membership session ended');
  assert.equal(failures.length, 1);
});

test('an error that is logged fails the run unless the faults of the run explain it', () => {
  const log = createLog();
  log.warn({ err: new GrantdError('unavailable', 'The store timed out.') }, 'retrying');
  log.error({ reason: 'Another member declared this one dead.' }, 'the membership session ended');
  log.error({ reason: 'the log has epoch 7 at seq 9' }, 'the shard lost the slot');
  log.error({ err: new GrantdError('unavailable', 'The store timed out.') }, NOT_OPENED);
  log.error({ err: new ShardFailure('not-serving', 'Slot 1 already has epoch 7.') }, NOT_OPENED);
  assert.deepEqual(failures, []);
  log.error(
    { reason: 'The row of this member holds heartbeat 3, which this process did not send.' },
    'the membership session ended',
  );
  log.error({ reason: 'The log of slot 1 lacks entries between seq 1 and 3.' }, 'the shard lost the slot');
  log.error({ err: UNREADABLE }, NOT_OPENED);
  log.error({ err: new Error('What nobody has thought of.') }, 'a call failed');
  assert.equal(failures.length, 4);
});

test('where records are lost, a slot that is refused for it fails no run', () => {
  const log = createLog('lost-records');
  log.error({ err: UNREADABLE }, NOT_OPENED);
  log.error({ reason: 'The log of slot 1 lacks entries between seq 1 and 3.' }, 'the shard lost the slot');
  assert.deepEqual(failures, []);
  log.error({ err: new Error('What nobody has thought of.') }, NOT_OPENED);
  assert.equal(failures.length, 1);
});

test('a defect fails the run at whatever level it is logged', () => {
  const log = createLog();
  log.warn({ err: new TypeError('undefined is not a function') }, 'retrying');
  log.info(
    { err: new GrantdError('internal', 'Unexpected.', { cause: new Error('Assertion failed: it holds') }) },
    'no',
  );
  assert.equal(failures.length, 2);
});

const SLOT = 1;
const CLOCK = {
  monotonicMs: () => 0,
  wallMs: () => 0,
  idleMs: () => 0,
  setTimer: () => ({ cancel() {} }),
  setImmediate: () => {},
};

/** A slot with entries 1 to 12 in segments of 4, sent a moment ago, and a checkpoint at the last. */
async function createSlot() {
  const memory = new MemoryStore({ clock: CLOCK });
  await memory.initializeMeta({ ...META, segmentSize: 4 }, NEVER);
  const rules = new StoreRules(
    memory,
    scheduler,
    { segmentSize: 4, operationsKeptMs: 1000, clockSkewMsMax: 10_000 },
    report,
  );
  const { store } = rules;
  await store.insertMember(createMember({ incarnation: 'inc_a', heartbeat: 0 }), NEVER);
  await store.claimSlot({ slot: SLOT, expected: undefined, owner: 'inc_a' }, NEVER);
  for (let seq = 1; seq <= 12; seq += 1) {
    const record = createRecord(SLOT, seq);
    rules.sent(record);
    await store.append(record, NEVER);
  }
  await store.writeCheckpoint(SLOT, { seq: 12, stamp: 12, windowFrom: 1 }, NEVER);
  return store;
}

test('a slot that is claimed from a member that lives fails the run; from a dead one, a gone one or nobody it may be', async () => {
  const store = await createSlot();
  await store.declareDead({ incarnation: 'inc_a', heartbeat: 0 }, NEVER);
  await store.claimSlot({ slot: SLOT, expected: { owner: 'inc_a', epoch: 1 }, owner: 'inc_b' }, NEVER);
  await store.claimSlot({ slot: SLOT, expected: { owner: 'inc_b', epoch: 2 }, owner: 'inc_c' }, NEVER);
  await store.insertMember(createMember({ incarnation: 'inc_c' }), NEVER);
  await store.claimSlot({ slot: SLOT, expected: { owner: 'inc_c', epoch: 3 }, owner: 'inc_c' }, NEVER);
  await store.releaseSlot({ slot: SLOT, owner: 'inc_c', epoch: 4, successor: undefined }, NEVER);
  await store.claimSlot({ slot: SLOT, expected: { owner: undefined, epoch: 4 }, owner: 'inc_c' }, NEVER);
  assert.deepEqual(failures, []);
  await store.claimSlot({ slot: SLOT, expected: { owner: 'inc_c', epoch: 1 }, owner: 'inc_d' }, NEVER);
  assert.deepEqual(failures, [], 'it was not applied');
  await store.claimSlot({ slot: SLOT, expected: { owner: 'inc_c', epoch: 5 }, owner: 'inc_d' }, NEVER);
  assert.deepEqual(failures, ['slot 1 is claimed from inc_c, which is alive']);
});

test('a checkpoint that goes back, or leaves an earlier one where it was, fails the run', async () => {
  const store = await createSlot();
  await store.writeCheckpoint(SLOT, { seq: 4, stamp: 4, windowFrom: 1 }, NEVER);
  assert.deepEqual(failures, []);
  await store.writeCheckpoint(SLOT, { seq: 4, stamp: 100, windowFrom: 1 }, NEVER);
  await store.writeCheckpoint(SLOT, { seq: 12, stamp: 99, windowFrom: 1 }, NEVER);
  assert.deepEqual(failures, [
    'the checkpoint of slot 1 is set back from seq 12 to 4',
    'a checkpoint of slot 1 at seq 12 leaves the one at 4',
  ]);
});

test('a log that is trimmed over its checkpoint, or while operations in it may be repeated, fails the run', async () => {
  const store = await createSlot();
  await store.removeSegment(SLOT, 0, NEVER);
  assert.match(failures.splice(0).join(), /seq 1 of slot 1 is trimmed 0 ms after it was sent/);
  scheduler.after(1000, () => {});
  await scheduler.runUntil(() => false, scheduler.nowMs + 1000);
  await store.removeSegment(SLOT, 1, NEVER);
  await store.recordFirst({ slot: SLOT, owner: 'inc_a', epoch: 1, first: 12 }, NEVER);
  assert.deepEqual(failures, []);
  await store.recordFirst({ slot: SLOT, owner: 'inc_a', epoch: 1, first: 16 }, NEVER);
  assert.deepEqual(failures, ['slot 1 is trimmed to seq 16 over its checkpoint at seq 12']);
});
