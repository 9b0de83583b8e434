// Rotations of API keys at their owner: both keys change at one moment, the end of the former key never moves away, and
// a repeat finds the first result, over changes of owner.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashApiKey } from '../../../../src/core/api-keys.ts';
import { derivedKeyId } from '../../../../src/core/idempotency-keys.ts';
import type { KeyId, TenantId } from '../../../../src/core/ids.ts';
import { BUILT_IN_PLANS } from '../../../../src/core/plans.ts';
import { ids, type OpenSlot, openSlot, tuple, WITHOUT_FILTER, waitFor } from '../tools.ts';

const HOUR_MS = 3_600_000;
const NOW_MS = Date.UTC(2030, 0, 31);

/** A slot whose wall clock the test moves. */
async function openAt() {
  const time = { nowMs: NOW_MS };
  return { ...(await openSlot({ wallMs: () => time.nowMs, pageLimits: WITHOUT_FILTER })), time };
}

const textOf = (keyId: KeyId): string => `the text of ${keyId}`;

interface Rotation {
  readonly graceMs?: number;
  readonly newKeyId?: KeyId;
  readonly attempt?: ReturnType<OpenSlot['attempt']>;
}

/** Rotates the key; the new one authenticates with its text. */
async function rotate(slot: OpenSlot, handle: number, keyId: KeyId, rotation: Rotation = {}) {
  const { graceMs = HOUR_MS, newKeyId = ids.create('key'), attempt = slot.attempt() } = rotation;
  const request = { keyId, newKeyId, hash: hashApiKey(textOf(newKeyId)), graceMs };
  return slot.operator.rotateKey(handle, attempt, request);
}

const claimOf = (tenantId: TenantId, keyId: KeyId) => ({ tenantId, keyId, key: textOf(keyId) });

const listed = async (slot: OpenSlot, handle: number) =>
  (await slot.connection.listKeys(handle, { limit: 100, cursor: undefined })).items;

/** Whether the owner serves the key. */
const serves = (slot: OpenSlot, tenantId: TenantId, keyId: KeyId): Promise<boolean> =>
  slot.front.authenticate(claimOf(tenantId, keyId)).then(
    () => true,
    ({ code }) => {
      assert.equal(code, 'unauthorized');
      return false;
    },
  );

test('both keys work until the end of the grace, and then only the new one, at any owner', async () => {
  const { slot, tenantId, handle, time } = await openAt();
  const { keyId } = await slot.createKey(handle, tenantId, undefined, 5);
  const { key, former, revoked } = await rotate(slot, handle, keyId);
  assert.deepEqual([key.name, key.scopes, key.expiresAtMs, key.rotatedFrom], ['test', 5, undefined, keyId]);
  assert.deepEqual([former.keyId, former.expiresAtMs, former.rotatedTo], [keyId, NOW_MS + HOUR_MS, key.keyId]);
  assert.equal(revoked, false);
  const heir = await slot.restart({ wallMs: () => time.nowMs });
  time.nowMs += HOUR_MS - 1;
  assert.deepEqual([await serves(heir, tenantId, keyId), await serves(heir, tenantId, key.keyId)], [true, true]);
  time.nowMs += 1;
  assert.deepEqual([await serves(heir, tenantId, keyId), await serves(heir, tenantId, key.keyId)], [false, true]);
  await heir.applied();
  const last = await heir.restart({ wallMs: () => time.nowMs });
  assert.deepEqual([await serves(last, tenantId, keyId), await serves(last, tenantId, key.keyId)], [false, true]);
  const keys = await listed(last, await last.handle(tenantId));
  assert.deepEqual(
    keys.map((each) => [each.keyId, each.rotatedFrom, each.rotatedTo, each.expiresAtMs]).sort(),
    [
      [keyId, undefined, key.keyId, NOW_MS + HOUR_MS],
      [key.keyId, keyId, undefined, undefined],
    ].sort(),
  );
});

test('handles that were issued before learn the nearer end, also of a call that was waiting', async () => {
  const { slot, tenantId, handle, time } = await openAt();
  const created = await slot.createKey(handle, tenantId);
  const issued = await slot.front.authenticate(created);
  assert.equal(issued.expiresAtMs, undefined);
  await rotate(slot, handle, created.keyId);
  assert.throws(() => slot.front.check(issued.handle, 'user:a', 6, 'doc:1'), { kind: 'handle-unknown' });
  const again = await slot.front.authenticate(created);
  assert.equal(again.expiresAtMs, NOW_MS + HOUR_MS);
  slot.faults.turn('hold', ['listGrants']);
  const waiting = assert.rejects(Promise.resolve(slot.front.check(again.handle, 'user:a', 6, 'doc:1')), {
    kind: 'handle-unknown',
  });
  await waitFor(() => slot.faults.heldCalls() > 0);
  time.nowMs += HOUR_MS;
  slot.faults.restore(['listGrants']);
  await waiting;
  await assert.rejects(slot.front.authenticate(created), { code: 'unauthorized' });
});

test('without a grace the former key is revoked by the rotation, whatever the clock says', async () => {
  const { slot, tenantId, handle, time } = await openAt();
  const created = await slot.createKey(handle, tenantId);
  const issued = await slot.front.authenticate(created);
  // A write under the former key that is decided behind the rotation.
  const writes = [{ ...tuple('user:2', 'doc:1'), revoke: false }];
  const [rotated, late] = await slot.inOneEntry(
    () => slot.grant(handle, tuple('user:1', 'doc:1')),
    () => rotate(slot, handle, created.keyId, { graceMs: 0 }),
    () => slot.front.writeGrants(issued.handle, slot.attempt(), writes),
  );
  await assert.rejects(late, { kind: 'handle-unknown' });
  const { key, revoked } = await rotated;
  assert.ok(revoked);
  time.nowMs -= HOUR_MS;
  assert.deepEqual(
    [await serves(slot, tenantId, created.keyId), await serves(slot, tenantId, key.keyId)],
    [false, true],
  );
  assert.deepEqual(
    (await listed(slot, handle)).map(({ keyId }) => keyId),
    [key.keyId],
  );
  const heir = await slot.restart({ wallMs: () => time.nowMs });
  assert.deepEqual(
    [await serves(heir, tenantId, created.keyId), await serves(heir, tenantId, key.keyId)],
    [false, true],
  );
  assert.equal(await heir.check(await heir.handle(tenantId), tuple('user:2', 'doc:1')), false);
});

test('the end of a key only comes nearer', async () => {
  const { slot, tenantId, handle, time } = await openAt();
  const { keyId } = await slot.createKey(handle, tenantId, NOW_MS + 60_000);
  const first = await rotate(slot, handle, keyId);
  assert.equal(first.former.expiresAtMs, NOW_MS + 60_000, 'its own expiry comes before the end of the grace');
  assert.equal(first.key.expiresAtMs, NOW_MS + 60_000, 'the new key has the same expiry');
  await assert.rejects(rotate(slot, handle, keyId), { code: 'key-not-rotatable', message: /has been rotated to key_/ });
  await slot.connection.revokeKey(handle, slot.attempt(), first.key.keyId);
  await assert.rejects(rotate(slot, handle, keyId), { code: 'key-not-rotatable', message: /has been rotated to key_/ });
  const other = await slot.createKey(handle, tenantId, NOW_MS + 60_000);
  const second = await rotate(slot, handle, other.keyId, { graceMs: 1000 });
  assert.deepEqual([second.former.expiresAtMs, second.key.expiresAtMs], [NOW_MS + 1000, NOW_MS + 60_000]);
  time.nowMs += 60_000;
  await assert.rejects(rotate(slot, handle, second.key.keyId), { code: 'key-not-rotatable', message: /has expired/ });
});

test('a revoked key is not rotated, whether state has the revocation or not, nor is one that never was', async () => {
  const { slot, tenantId, handle } = await openAt();
  const { keyId } = await slot.createKey(handle, tenantId);
  const revoking = slot.connection.revokeKey(handle, slot.attempt(), keyId);
  const rotating = rotate(slot, handle, keyId);
  const revoked = { code: 'key-not-rotatable', message: /was revoked/ };
  await Promise.all([revoking, assert.rejects(rotating, revoked)]);
  await assert.rejects(rotate(slot, handle, keyId), revoked);
  await assert.rejects(rotate(slot, handle, ids.create('key')), { code: 'key-not-found' });
});

test('a repeat finds the rotation, by its operation id or by the id that is derived from an Idempotency-Key', async () => {
  const { slot, tenantId, handle } = await openAt();
  const { keyId } = await slot.createKey(handle, tenantId);
  const attempt = slot.attempt();
  const newKeyId = derivedKeyId(tenantId, 'operator:test', 'a');
  const first = await rotate(slot, handle, keyId, { attempt, newKeyId });
  assert.deepEqual(await rotate(slot, handle, keyId, { attempt, newKeyId }), first);
  const heir = await slot.restart({ wallMs: () => NOW_MS });
  const again = await heir.handle(tenantId);
  assert.deepEqual(await rotate(heir, again, keyId, { attempt, newKeyId }), first);
  await assert.rejects(rotate(heir, again, keyId, { newKeyId }), { code: 'already-created', message: /has rotated/ });
  const other = await heir.createKey(again, tenantId);
  await assert.rejects(rotate(heir, again, other.keyId, { newKeyId }), { code: 'idempotency-key-reused' });
  await heir.connection.revokeKey(again, heir.attempt(), keyId);
  await assert.rejects(rotate(heir, again, keyId, { newKeyId }), { code: 'already-created' });
  await heir.connection.revokeKey(again, heir.attempt(), newKeyId);
  await assert.rejects(rotate(heir, again, keyId, { newKeyId }), { code: 'already-created', message: /was revoked/ });
});

test('rotations that meet in one batch give a key one successor', async () => {
  const { slot, tenantId, handle } = await openAt();
  const { keyId } = await slot.createKey(handle, tenantId);
  const rotation = () => rotate(slot, handle, keyId);
  const [first, ...others] = await slot.inOneEntry(
    () => slot.grant(handle, tuple('user:1', 'doc:1')),
    ...[rotation, rotation, rotation],
  );
  await first;
  for (const other of others) await assert.rejects(other, { code: 'key-not-rotatable' });
  assert.equal((await listed(slot, handle)).length, 2);
});

test('with a grace, a rotation needs room for one more key; without one, it does not', async () => {
  const free = BUILT_IN_PLANS.get('free');
  assert.ok(free);
  const plans = new Map([...BUILT_IN_PLANS, ['small', { ...free, keysMax: 1 }] as const]);
  const { slot } = await openSlot({ plans });
  const tenantId = await slot.createTenant('small');
  const handle = await slot.handle(tenantId);
  const { keyId } = await slot.createKey(handle, tenantId);
  await assert.rejects(rotate(slot, handle, keyId), { code: 'key-limit-reached' });
  assert.ok((await rotate(slot, handle, keyId, { graceMs: 0 })).revoked);
});

test('whether the end of a new key lies in the future, the time of the slot decides', async () => {
  const { slot, time } = await openAt();
  const tenantId = await slot.createTenant();
  const handle = await slot.handle(tenantId);
  const createdUntil = (expiresAtMs: number): Promise<unknown> =>
    slot.createKey(handle, tenantId, expiresAtMs).catch((error: Error) => error.message);
  assert.match(String(await createdUntil(NOW_MS)), /must be a moment in the future/);
  time.nowMs = NOW_MS + HOUR_MS;
  await createdUntil(NOW_MS + 2 * HOUR_MS);
  time.nowMs = NOW_MS;
  assert.match(
    String(await createdUntil(NOW_MS + HOUR_MS / 2)),
    /must be after the time of this tenant's log, 2030-01-31T01:00:00/,
  );
  assert.equal((await listed(slot, handle)).filter(({ expiresAtMs }) => expiresAtMs !== undefined).length, 1);
});
