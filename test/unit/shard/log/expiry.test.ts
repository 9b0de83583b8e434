// Grants that expire, at their owner: by which clock, across owners, and what is reported of it. Among them
// what users of other services complain of: an expired grant that revives or blocks its successor, an expiry that the
// next grant inherits, one that the audit log omits, and clocks that disagree.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TenantId } from '../../../../src/core/ids.ts';
import { columnsOf, type Tuple } from '../../../../src/core/tuples.ts';
import type { CheckAnswer, GrantResult } from '../../../../src/shard/shard.ts';
import type { MemoryStore } from '../../../kit/store/memory-store.ts';
import { createMemoryStore, OpenSlot, RELEASE, type SlotOptions, settled, soon, tuple } from '../tools.ts';

const ANN = tuple('user:ann', 'doc:1');
const START_MS = Date.UTC(2026, 10, 1);
const HOUR_MS = 3_600_000;

/** A wall clock that only the test moves. */
class Wall {
  ms = START_MS;
  readonly wallMs = (): number => this.ms;
}

async function openWith(wall: Wall, memory?: MemoryStore, options: SlotOptions = {}) {
  const store = memory ?? (await createMemoryStore());
  const slot = await OpenSlot.open(store, { ...options, wallMs: wall.wallMs });
  return { memory: store, slot };
}

async function write(slot: OpenSlot, handle: number, of: Tuple, expiresAtMs?: number | null): Promise<GrantResult> {
  const expiry = expiresAtMs === undefined ? {} : { expiresAtMs };
  const [result] = await slot.connection.writeGrants(handle, slot.attempt(), [{ ...of, revoke: false, ...expiry }]);
  assert.ok(result);
  return result;
}

const relationOf = 6;
const checkOne = async (slot: OpenSlot, handle: number, of: Tuple): Promise<CheckAnswer> =>
  slot.connection.check(handle, of.subject, relationOf, of.object);

const authorizedBy = (answer: CheckAnswer): boolean => (typeof answer === 'boolean' ? answer : answer.authorized);
const timeOf = (answer: CheckAnswer): number => {
  assert.ok(typeof answer !== 'boolean', 'the answer has its own time');
  return answer.checkedAtMs;
};

async function auditOf(slot: OpenSlot, tenantId: TenantId): Promise<string[]> {
  await slot.tenure.applied();
  const page = await slot.operator.listAuditLog({ tenantId, limit: 1000, cursor: undefined });
  return page.items
    .map(({ change }) => String(JSON.parse(change).action))
    .filter((action) => action.startsWith('grant'));
}

for (const whole of [true, false]) {
  test(`a grant holds until just before its expiry, on a ${whole ? 'whole' : 'sparse'} page`, async () => {
    const wall = new Wall();
    const options = whole ? {} : { pageLimits: { rowsPerRead: 1, rowsMax: 1 } };
    const { slot } = await openWith(wall, undefined, options);
    const handle = await slot.handle(await slot.createTenant());
    const expiresAtMs = START_MS + 1000;
    await write(slot, handle, tuple('user:ann', 'doc:2'));
    await write(slot, handle, tuple('user:ann', 'doc:3'));
    const created = await write(slot, handle, ANN, expiresAtMs);
    assert.ok(created.kind === 'created' && created.expiresAtMs === expiresAtMs);
    wall.ms = expiresAtMs - 1;
    const held = await checkOne(slot, handle, ANN);
    assert.deepEqual(held, { authorized: true, checkedAtMs: expiresAtMs - 1 });
    assert.equal(await slot.check(handle, ANN), true);
    assert.deepEqual(await slot.list(handle, 'user:ann'), ['doc:1', 'doc:2', 'doc:3']);
    wall.ms = expiresAtMs;
    assert.deepEqual(await checkOne(slot, handle, ANN), { authorized: false, checkedAtMs: expiresAtMs });
    assert.equal(await slot.check(handle, ANN), false);
    assert.deepEqual(await slot.list(handle, 'user:ann'), ['doc:2', 'doc:3']);
    assert.equal((await slot.revoke(handle, ANN)).kind, 'not-found');
  });
}

test('an answer from memory does not outlive the expiry of its grant, and nothing is read for that', async () => {
  const wall = new Wall();
  const { slot } = await openWith(wall);
  const handle = await slot.handle(await slot.createTenant());
  await write(slot, handle, ANN, START_MS + 1000);
  await write(slot, handle, tuple('user:ann', 'doc:2'));
  assert.equal(await slot.check(handle, ANN), true);
  slot.faults.turn('hold', ['listGrants', 'readGrant']);
  for (const [ms, held] of [
    [START_MS + 999, true],
    [START_MS + 1000, false],
    [START_MS + 1001, false],
  ] as const) {
    wall.ms = ms;
    assert.equal(authorizedBy(await checkOne(slot, handle, ANN)), held);
    const { authorized } = await slot.connection.checkBulk(handle, columnsOf([ANN, tuple('user:ann', 'doc:2')]));
    assert.deepEqual(authorized, [held, true]);
  }
});

test('an expiry is not reported until it is in the log, and one entry records it for all callers', async () => {
  const wall = new Wall();
  const { slot } = await openWith(wall);
  const handle = await slot.handle(await slot.createTenant());
  const tuples = Array.from({ length: 20 }, (_, index) => tuple(`user:${index}`, 'doc:1'));
  for (const each of tuples) await write(slot, handle, each, START_MS + 1000);
  const { lastSeq } = slot.tenure;
  wall.ms = START_MS + 1000;
  slot.faults.turn('hold', ['append']);
  const answers = Promise.all(tuples.map((each) => checkOne(slot, handle, each)));
  const listed = slot.list(handle, 'user:1');
  assert.equal(await settled(Promise.race([answers, listed])), false);
  slot.faults.restore(['append']);
  for (const answer of await answers) assert.deepEqual(answer, { authorized: false, checkedAtMs: wall.ms });
  assert.deepEqual(await listed, []);
  assert.ok(slot.tenure.lastSeq <= lastSeq + 2);
  const { lastSeq: after } = slot.tenure;
  for (const each of tuples) assert.equal(await slot.check(handle, each), false);
  assert.equal(slot.tenure.lastSeq, after);
});

for (const how of ['death', 'release'] as const) {
  test(`an expired grant does not revive at an owner whose clock is an hour behind, after a ${how}`, async () => {
    const wall = new Wall();
    const { memory, slot } = await openWith(wall);
    const handle = await slot.handle(await slot.createTenant());
    const expiresAtMs = START_MS + 1000;
    await write(slot, handle, ANN, expiresAtMs);
    await write(slot, handle, tuple('user:bob', 'doc:1'), START_MS + 3 * HOUR_MS);
    wall.ms = expiresAtMs + 5;
    assert.equal(authorizedBy(await checkOne(slot, handle, ANN)), false);
    if (how === 'release') await slot.tenure.release(RELEASE);
    slot.kill();
    const behind = new Wall();
    behind.ms = START_MS - HOUR_MS;
    const { slot: heir } = await openWith(behind, memory);
    const heirs = await heir.handle([...heir.tenure.tenants.keys()][0] ?? assert.fail());
    const answer = await checkOne(heir, heirs, ANN);
    assert.equal(authorizedBy(answer), false);
    assert.ok(timeOf(answer) >= expiresAtMs);
    assert.deepEqual(await heir.list(heirs, 'user:ann'), []);
    assert.equal(await heir.check(heirs, ANN), false);
    // What has yet to expire holds, at a time before its expiry.
    const held = await checkOne(heir, heirs, tuple('user:bob', 'doc:1'));
    assert.equal(authorizedBy(held), true);
    assert.ok(timeOf(held) < START_MS + 3 * HOUR_MS);
  });
}

test('a grant still holds if the wall clock is set back before the log has reached the expiry', async () => {
  const wall = new Wall();
  const { slot } = await openWith(wall);
  const handle = await slot.handle(await slot.createTenant());
  await write(slot, handle, ANN, START_MS + 1000);
  wall.ms = START_MS + 2000;
  const answer = checkOne(slot, handle, ANN);
  wall.ms = START_MS + 10;
  assert.deepEqual(await answer, { authorized: true, checkedAtMs: START_MS + 10 });
});

test('a bulk call and a listing see one time', async () => {
  const wall = new Wall();
  const { slot } = await openWith(wall);
  const handle = await slot.handle(await slot.createTenant());
  const tuples = Array.from({ length: 30 }, (_, index) => tuple('user:ann', `doc:${10 + index}`));
  for (const [index, each] of tuples.entries()) await write(slot, handle, each, START_MS + 100 + index);
  for (const passedMs of [99, 110, 200]) {
    wall.ms = START_MS + passedMs;
    const { authorized, checkedAtMs } = await slot.connection.checkBulk(handle, columnsOf(tuples));
    const held = tuples.filter((_, index) => START_MS + 100 + index > checkedAtMs);
    assert.ok(checkedAtMs >= wall.ms);
    assert.deepEqual(
      authorized,
      tuples.map((each) => held.includes(each)),
    );
    assert.deepEqual(
      await slot.list(handle, 'user:ann'),
      held.map(({ object }) => object),
    );
  }
});

test('an existing grant keeps its expiry, takes another, or loses it; only a difference is logged', async () => {
  const wall = new Wall();
  const { slot } = await openWith(wall);
  const tenantId = await slot.createTenant();
  const handle = await slot.handle(tenantId);
  const first = await write(slot, handle, ANN, START_MS + 1000);
  assert.ok(first.kind === 'created');
  const { grantId, createdAtMs } = first;
  const exists = { kind: 'exists', grantId, createdAtMs };
  assert.deepEqual(await write(slot, handle, ANN), { ...exists, expiresAtMs: START_MS + 1000 });
  assert.deepEqual(await write(slot, handle, ANN, START_MS + 1000), { ...exists, expiresAtMs: START_MS + 1000 });
  assert.deepEqual(await write(slot, handle, ANN, START_MS + 5000), {
    ...exists,
    kind: 'changed',
    expiresAtMs: START_MS + 5000,
  });
  wall.ms = START_MS + 2000;
  assert.equal(await slot.check(handle, ANN), true);
  assert.deepEqual(await write(slot, handle, ANN, null), { ...exists, kind: 'changed' });
  assert.deepEqual(await write(slot, handle, ANN, null), exists);
  wall.ms = START_MS + 9000;
  assert.equal(await slot.check(handle, ANN), true);
  assert.deepEqual(await auditOf(slot, tenantId), ['grant.created', 'grant.updated', 'grant.updated']);
});

test('an expiry in the past, by the time of the slot, is refused', async () => {
  const wall = new Wall();
  const { slot } = await openWith(wall);
  const handle = await slot.handle(await slot.createTenant());
  for (const expiresAtMs of [START_MS - 1, START_MS]) {
    const refused = await write(slot, handle, ANN, expiresAtMs);
    assert.ok(refused.kind === 'refused' && refused.code === 'invalid-request');
  }
  assert.equal(await slot.check(handle, ANN), false);
  // The log is ahead of a clock that was set back.
  wall.ms = START_MS - HOUR_MS;
  assert.equal((await write(slot, handle, ANN, START_MS - 1)).kind, 'refused');
  assert.equal((await write(slot, handle, ANN, START_MS + HOUR_MS)).kind, 'created');
});

for (const collected of [false, true]) {
  test(`a new grant follows one that expired and was ${collected ? '' : 'not '}collected: its own id and expiry`, async () => {
    const wall = new Wall();
    const { memory, slot } = await openWith(wall);
    const tenantId = await slot.createTenant();
    const handle = await slot.handle(tenantId);
    const first = await write(slot, handle, ANN, START_MS + 1000);
    wall.ms = START_MS + 1000;
    if (collected) await slot.collect();
    const second = await write(slot, handle, ANN);
    assert.ok(first.kind === 'created' && second.kind === 'created');
    assert.notEqual(second.grantId, first.grantId);
    assert.equal(second.expiresAtMs, undefined);
    wall.ms = START_MS + HOUR_MS;
    assert.equal(await slot.check(handle, ANN), true);
    await slot.tenure.checkpointed();
    assert.deepEqual(await auditOf(slot, tenantId), ['grant.created', 'grant.expired', 'grant.created']);
    assert.equal(slot.tenure.tenants.get(tenantId)?.grantCount.grants, 1);
    const heir = await slot.restart({ wallMs: wall.wallMs });
    assert.equal(await heir.check(await heir.handle(tenantId), ANN), true);
    const row = await memory.readGrant(tenantId, 'user:ann', 'viewer', 'doc:1', soon());
    assert.ok(row !== undefined && row.expiresAtMs === undefined && row.grantId === second.grantId);
    assert.deepEqual(memory.grantsOnOneSide(tenantId), []);
  });
}

test('a repeat of a write gets the first result, expiry included, also from the log', async () => {
  const wall = new Wall();
  const { slot } = await openWith(wall);
  const tenantId = await slot.createTenant();
  const handle = await slot.handle(tenantId);
  const writeBy = async (of: OpenSlot, on: number, attempt: ReturnType<OpenSlot['attempt']>, expiresAtMs: number) =>
    (await of.connection.writeGrants(on, attempt, [{ ...ANN, revoke: false, expiresAtMs }]))[0];
  const [creation, update, revocation] = [slot.attempt(), slot.attempt(), slot.attempt()];
  const created = await writeBy(slot, handle, creation, START_MS + 1000);
  const updated = await writeBy(slot, handle, update, START_MS + 2000);
  wall.ms = START_MS + 3000;
  const revoked = await slot.revoke(handle, ANN, revocation);
  assert.ok(created?.kind === 'created' && updated?.kind === 'changed' && revoked.kind === 'not-found');
  assert.deepEqual(await writeBy(slot, handle, creation, START_MS + 1000), created);
  const heir = await slot.restart({ wallMs: wall.wallMs });
  const heirs = await heir.handle(tenantId);
  const later = (attempt: typeof creation) => ({ ...attempt, expiresAtMs: heir.clock.monotonicMs() + 10_000 });
  assert.deepEqual(await writeBy(heir, heirs, later(creation), START_MS + 1000), created);
  assert.deepEqual(await writeBy(heir, heirs, later(update), START_MS + 2000), updated);
  assert.deepEqual(await heir.revoke(heirs, ANN, later(revocation)), revoked);
});

test('an expiry that has passed by the time of the log alone is refused with that time', async () => {
  const wall = new Wall();
  const { slot } = await openWith(wall);
  const handle = await slot.handle(await slot.createTenant());
  wall.ms = START_MS + 2 * HOUR_MS;
  await write(slot, handle, ANN);
  wall.ms = START_MS;
  const expiresAtMs = START_MS + HOUR_MS;
  const refused = await write(slot, handle, tuple('user:bob', 'doc:1'), expiresAtMs);
  const bulk = { grants: [{ ...tuple('user:bob', 'doc:1'), expiresAtMs }], revocations: [], preconditions: [] };
  const all = await slot.connection.writeBulk(handle, slot.attempt(), bulk).catch((error: Error) => error);
  const said =
    /must be after the time of this tenant's log, 2026-11-01T02:00:00(\.\d+)?Z, which is ahead .* by 720[01] s/;
  assert.match(JSON.stringify(refused), said);
  assert.match(all instanceof Error ? all.message : JSON.stringify(all), said);
  assert.equal(slot.tenure.slotTime.aheadMs, 2 * HOUR_MS);
  assert.match(JSON.stringify(await write(slot, handle, ANN, START_MS)), /must be a moment in the future/);
});
