// Writes of many grants where grants expire: an expired grant does not exist for a bulk write, nor for a revocation by
// a filter; neither says so before the log does, and each expiry is told and counted once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TenantId } from '../../../../src/core/ids.ts';
import { BUILT_IN_PLANS, type Plans } from '../../../../src/core/plans.ts';
import type { Attempt, BulkWrite, BulkWriteResult, GrantFilter } from '../../../../src/shard/shard.ts';
import type { MemoryStore } from '../../../kit/store/memory-store.ts';
import { createMemoryStore, OpenSlot, type SlotOptions, settled, tuple, waitFor } from '../tools.ts';

const START_MS = Date.UTC(2026, 10, 1);
const HOUR_MS = 3_600_000;
const SOON_MS = START_MS + 1000;
const LATER_MS = START_MS + HOUR_MS;

const A = tuple('user:a', 'doc:1');
const B = tuple('user:a', 'doc:2');
const C = tuple('user:a', 'doc:3');
const D = tuple('user:b', 'doc:1');

/** A wall clock that only the test moves. */
class Wall {
  ms = START_MS;
  readonly wallMs = (): number => this.ms;
}

async function opened(wall: Wall, options: SlotOptions = {}, memory?: MemoryStore) {
  const slot = await OpenSlot.open(memory ?? (await createMemoryStore()), { ...options, wallMs: wall.wallMs });
  const tenantId = await slot.createTenant();
  return { slot, tenantId, handle: await slot.handle(tenantId) };
}

const write = (slot: OpenSlot, handle: number, parts: Partial<BulkWrite>, by: Attempt = slot.attempt()) =>
  slot.connection.writeBulk(handle, by, { grants: [], revocations: [], preconditions: [], ...parts });

function written(result: BulkWriteResult): Extract<BulkWriteResult, { kind: 'written' }> {
  if (result.kind !== 'written') throw new Error(`The write was ${result.kind}.`);
  return result;
}

const ofSubject = (subject: string): GrantFilter => ({ of: { subject }, relation: undefined });
const ofObject = (object: string): GrantFilter => ({ of: { object }, relation: undefined });

async function told(slot: OpenSlot, tenantId: TenantId): Promise<string[]> {
  await slot.tenure.applied();
  const page = await slot.operator.listAuditLog({ tenantId, limit: 1000, cursor: undefined });
  return page.items.flatMap(({ change, actor }) => {
    const { action, object } = JSON.parse(change);
    const by = actor === 'system' ? ' by the system' : '';
    return String(action).startsWith('grant.') ? [`${action} ${object}${by}`] : [];
  });
}

const total = (slot: OpenSlot, tenantId: TenantId): number | undefined =>
  slot.tenure.tenants.get(tenantId)?.grantCount.total?.grants;

test('a bulk write keeps, replaces or removes the expiry of what exists, and says what it is then', async () => {
  const wall = new Wall();
  const { slot, handle, tenantId } = await opened(wall);
  const made = written(await write(slot, handle, { grants: [A, { ...B, expiresAtMs: LATER_MS }, C] }));
  assert.deepEqual(
    made.grants.map(({ expiresAtMs }) => expiresAtMs),
    [undefined, LATER_MS, undefined],
  );
  const kept = written(await write(slot, handle, { grants: [{ ...A, expiresAtMs: null }, B, C] }));
  assert.deepEqual(
    kept.grants,
    made.grants.map((grant) => ({ ...grant, created: false })),
  );
  const { lastSeq } = slot.tenure;
  await write(slot, handle, { grants: [{ ...B, expiresAtMs: LATER_MS }] });
  assert.equal(slot.tenure.lastSeq, lastSeq, 'what changes nothing is not logged');
  const by = slot.attempt();
  const parts = { grants: [{ ...A, expiresAtMs: SOON_MS }, { ...B, expiresAtMs: null }, C] };
  const changed = written(await write(slot, handle, parts, by));
  assert.deepEqual(
    changed.grants.map(({ created, grantId, expiresAtMs }) => [created, grantId, expiresAtMs]),
    made.grants.map(({ grantId }, index) => [false, grantId, index === 0 ? SOON_MS : undefined]),
  );
  assert.deepEqual((await told(slot, tenantId)).slice(3), ['grant.updated doc:1', 'grant.updated doc:2']);
  assert.equal(total(slot, tenantId), 3);
  const heir = await slot.restart({ wallMs: wall.wallMs });
  const again = await heir.handle(tenantId);
  assert.deepEqual(await write(heir, again, parts, by), changed, 'a repeat gets the stored result');
  wall.ms = SOON_MS;
  assert.deepEqual(await heir.list(again, 'user:a'), ['doc:2', 'doc:3']);
});

test('for a bulk write an expired grant does not exist: in preconditions, grants and revocations', async () => {
  const wall = new Wall();
  const { slot, handle, tenantId } = await opened(wall);
  const made = written(
    await write(slot, handle, { grants: [A, B, C].map((each) => ({ ...each, expiresAtMs: SOON_MS })) }),
  );
  await slot.grant(handle, D);
  wall.ms = SOON_MS;
  const preconditions = [
    { ...A, exists: false },
    { ...C, exists: false },
  ];
  const unmet = await write(slot, handle, { grants: [D], preconditions: [...preconditions, { ...B, exists: true }] });
  assert.deepEqual(unmet, { kind: 'precondition-not-met', precondition: 2 });
  const result = written(await write(slot, handle, { grants: [A], revocations: [B, D], preconditions }));
  assert.deepEqual(result.revoked, [false, true]);
  const [again] = result.grants;
  assert.ok(again?.created && again.grantId !== made.grants[0]?.grantId && again.expiresAtMs === undefined);
  assert.equal(total(slot, tenantId), 1);
  await slot.collect();
  const records = await told(slot, tenantId);
  const expired = records.filter((record) => record.startsWith('grant.expired'));
  assert.deepEqual(
    expired.sort(),
    [1, 2, 3].map((number) => `grant.expired doc:${number} by the system`),
  );
  assert.equal(total(slot, tenantId), 1);
});

for (const part of ['grants', 'revocations', 'preconditions'] as const) {
  test(`what a bulk write says of an expired grant is true for good: ${part}`, async () => {
    const wall = new Wall();
    const memory = await createMemoryStore();
    const { slot, handle, tenantId } = await opened(wall, {}, memory);
    await write(slot, handle, { grants: [{ ...A, expiresAtMs: SOON_MS }] });
    wall.ms = SOON_MS;
    const parts: Partial<BulkWrite> =
      part === 'preconditions' ? { grants: [B], preconditions: [{ ...A, exists: false }] } : { [part]: [A] };
    const { lastSeq } = slot.tenure;
    slot.faults.turn('hold', ['append']);
    const answer = write(slot, handle, parts);
    assert.equal(await settled(answer), false, 'the answer waits for the log');
    slot.faults.restore(['append']);
    assert.equal((await answer).kind, 'written');
    assert.ok(slot.tenure.lastSeq > lastSeq);
    wall.ms = START_MS - HOUR_MS;
    const heir = await slot.restart({ wallMs: wall.wallMs });
    const again = await heir.handle(tenantId);
    assert.equal(await heir.check(again, A), part === 'grants', 'the expired grant does not revive');
  });
}

test('a grant that expires while a bulk write waits for its turn is collected, and the write follows', async () => {
  const wall = new Wall();
  const { slot, handle, tenantId } = await opened(wall);
  await write(slot, handle, { grants: [{ ...A, expiresAtMs: SOON_MS }] });
  slot.faults.turn('hold', ['append']);
  const ahead = slot.grant(handle, D);
  await waitFor(() => slot.faults.heldCalls() === 1);
  const answer = write(slot, handle, { grants: [A, B], preconditions: [{ ...A, exists: false }] });
  await waitFor(() => slot.tenure.queueLength === 1);
  wall.ms = SOON_MS;
  slot.faults.restore(['append']);
  await ahead;
  assert.deepEqual(
    written(await answer).grants.map(({ created }) => created),
    [true, true],
  );
  assert.equal(total(slot, tenantId), 3);
});

test('expired grants do not count towards the limit of the plan', async () => {
  const wall = new Wall();
  const free = BUILT_IN_PLANS.get('free');
  assert.ok(free);
  const plans: Plans = new Map([['unlimited', { ...free, name: 'unlimited', grantsMax: 2 }]]);
  const { slot, handle, tenantId } = await opened(wall, { plans });
  await write(slot, handle, { grants: [A, { ...B, expiresAtMs: SOON_MS }] });
  assert.equal((await write(slot, handle, { grants: [B, C] })).kind, 'refused');
  wall.ms = SOON_MS;
  assert.equal((await write(slot, handle, { grants: [B] })).kind, 'written');
  assert.equal(total(slot, tenantId), 2);
});

test('a bulk write of the longest grants, all of them expired, has room in the log', async () => {
  const wall = new Wall();
  const { slot, handle } = await opened(wall);
  const long = (name: string, index: number): string => `${name}:${'語'.repeat(200)}${index}`;
  const tuples = Array.from({ length: 200 }, (_, index) => tuple(long('user', index), long('doc', index)));
  const [granted, asked] = [tuples.slice(0, 100), tuples.slice(100)];
  for (const grants of [granted, asked]) {
    await write(slot, handle, { grants: grants.map((each) => ({ ...each, expiresAtMs: SOON_MS })) });
  }
  wall.ms = SOON_MS;
  const preconditions = asked.map((each) => ({ ...each, exists: false }));
  const result = written(await write(slot, handle, { grants: granted, preconditions }));
  assert.ok(result.grants.every(({ created, expiresAtMs }) => created && expiresAtMs === undefined));
});

for (const whole of [true, false]) {
  const options = whole ? {} : { pageLimits: { rowsPerRead: 2, rowsMax: 2 } };

  test(`a revocation by a filter does not count what has expired, on a ${whole ? 'whole' : 'sparse'} page`, async () => {
    const wall = new Wall();
    const { slot, handle, tenantId } = await opened(wall, options);
    const grants = [A, { ...B, expiresAtMs: SOON_MS }, { ...C, expiresAtMs: LATER_MS }, D];
    await write(slot, handle, { grants });
    await slot.applied();
    wall.ms = SOON_MS;
    const by = slot.attempt();
    const result = await slot.connection.revokeGrants(handle, by, ofSubject('user:a'));
    assert.deepEqual(result, { revoked: 2, complete: true });
    assert.equal(total(slot, tenantId), 1);
    const records = await told(slot, tenantId);
    assert.deepEqual(records.slice(4).sort(), [
      'grant.expired doc:2 by the system',
      'grant.revoked doc:1',
      'grant.revoked doc:3',
    ]);
    await slot.collect();
    assert.equal((await told(slot, tenantId)).length, records.length, 'the expiry is told once');
    const heir = await slot.restart({ ...options, wallMs: wall.wallMs });
    const again = await heir.handle(tenantId);
    assert.deepEqual(await heir.connection.revokeGrants(again, by, ofSubject('user:a')), result);
    assert.deepEqual(await heir.connection.revokeGrants(again, heir.attempt(), ofObject('doc:1')), {
      revoked: 1,
      complete: true,
    });
  });

  test(`that nothing is left, on a ${whole ? 'whole' : 'sparse'} page, is said once the log says so`, async () => {
    const wall = new Wall();
    const { slot, handle, tenantId } = await opened(wall, options);
    await write(slot, handle, { grants: [A, B, C].map((each) => ({ ...each, expiresAtMs: SOON_MS })) });
    await slot.applied();
    wall.ms = SOON_MS;
    slot.faults.turn('hold', ['append']);
    const by = slot.attempt();
    const answer = slot.connection.revokeGrants(handle, by, ofSubject('user:a'));
    assert.equal(await settled(answer), false);
    slot.faults.restore(['append']);
    assert.deepEqual(await answer, { revoked: 0, complete: true });
    wall.ms = START_MS - HOUR_MS;
    const heir = await slot.restart({ ...options, wallMs: wall.wallMs });
    const again = await heir.handle(tenantId);
    assert.deepEqual(await heir.list(again, 'user:a'), []);
    const repeated = await heir.connection.revokeGrants(again, by, ofSubject('user:a'));
    assert.deepEqual(repeated, { revoked: 0, complete: true });
    assert.equal(total(heir, tenantId), 0);
  });
}
