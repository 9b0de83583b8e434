// The hot pages of a slot: the next owner finds them in memory, and nothing that a list says changes an answer.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { FairTurns } from '../../../../src/core/async/turns.ts';
import { encodeHotPages } from '../../../../src/shard/log/hot-pages.ts';
import { MemoryBudget } from '../../../../src/shard/memory/memory-budget.ts';
import { waitFor } from '../../../kit/wait-for.ts';
import { type OpenSlot, openSlot, RELEASE, real, SLOT, soon, tuple } from '../tools.ts';

const SUBJECTS = Array.from({ length: 20 }, (_, index) => `user:${index}`);

/** A slot whose tenant has one grant for each subject, all of them in use. */
async function openUsed() {
  const { memory, slot, tenantId, handle } = await openSlot();
  for (const subject of SUBJECTS) await slot.grant(handle, tuple(subject, 'doc:1'));
  for (const subject of SUBJECTS) {
    for (let count = 0; count < 17; count += 1) await slot.connection.check(handle, subject, 1, 'doc:1');
  }
  return { memory, slot, tenantId, handle };
}

const count = ({ preloads }: OpenSlot, outcome: string): number => preloads.filter((each) => each === outcome).length;

test('the next owner loads the pages that the previous one used, once', async () => {
  const { memory, slot, tenantId } = await openUsed();
  await slot.tenure.release(RELEASE);
  await slot.tenure.leave(RELEASE.limitMs);
  const list = await memory.readHotPages(SLOT, soon());
  assert.ok(list !== undefined);
  const heir = await slot.restart();
  await waitFor('the pages to be loaded', () => heir.preloads.length === SUBJECTS.length);
  assert.equal(count(heir, 'loaded'), SUBJECTS.length);
  const pages = heir.tenure.tenants.get(tenantId)?.pages;
  for (const subject of SUBJECTS) assert.ok(pages?.get(subject)?.whole);
  const reads = heir.faults.calls('listGrants');
  const handle = await heir.handle(tenantId);
  for (const subject of SUBJECTS) assert.equal(await heir.check(handle, tuple(subject, 'doc:1')), true);
  assert.equal(heir.faults.calls('listGrants'), reads);
  // It knows them as hot before they are used again, so its own list is the same.
  await heir.tenure.hotPages.storeNow();
  assert.equal(heir.faults.calls('writeHotPages'), 0);
});

test('a preloaded page has the commits made while it was read', async () => {
  const { slot, tenantId } = await openUsed();
  await slot.tenure.release(RELEASE);
  await slot.tenure.leave(RELEASE.limitMs);
  const heir = await slot.restart({ hooks: {} });
  heir.faults.turn('hold', ['listGrants']);
  const handle = await heir.handle(tenantId);
  const held = heir.faults.heldCalls();
  const revoked = tuple('user:19', 'doc:1');
  const revoking = heir.revoke(handle, revoked);
  await waitFor('the read to be held', () => heir.faults.heldCalls() >= held);
  heir.faults.restore(['listGrants']);
  await revoking;
  assert.equal(await heir.check(handle, revoked), false);
  await waitFor('the pages to be loaded', () => heir.preloads.length === SUBJECTS.length);
  assert.equal(await heir.check(handle, revoked), false);
});

test('a list that is missing, damaged or unreadable counts as none', async () => {
  const { memory, slot, tenantId } = await openUsed();
  for (const text of ['', '{', '{"version":9}', encodeHotPages([])]) {
    await memory.writeHotPages(SLOT, text, Date.now() + 3_600_000, soon());
    const heir = await slot.restart();
    const handle = await heir.handle(tenantId);
    assert.equal(await heir.check(handle, tuple('user:1', 'doc:1')), true);
    assert.deepEqual(heir.preloads, []);
    heir.kill();
  }
  const heir = await slot.restart({
    hooks: { fault: (call) => (call === 'readHotPages' ? { kind: 'fail-before' } : undefined) },
  });
  const handle = await heir.handle(tenantId);
  assert.equal(await heir.check(handle, tuple('user:1', 'doc:1')), true);
  assert.deepEqual(heir.preloads, []);
});

test('entities without grants, of unknown tenants and of both sides do no harm', async () => {
  const { memory, slot, tenantId } = await openUsed();
  const other = 'ten_00000000000000000000000000' as typeof tenantId;
  const pages = [
    { tenantId, side: 'subject' as const, entity: 'user:nobody' },
    { tenantId, side: 'object' as const, entity: 'doc:1' },
    { tenantId: other, side: 'subject' as const, entity: 'user:1' },
  ];
  await memory.writeHotPages(SLOT, encodeHotPages(pages), Date.now() + 3_600_000, soon());
  const heir = await slot.restart();
  await waitFor('the pages to be loaded', () => heir.preloads.length === 2);
  const handle = await heir.handle(tenantId);
  assert.equal(await heir.check(handle, tuple('user:nobody', 'doc:1')), false);
  assert.equal(heir.tenure.tenants.get(tenantId)?.objectPages.get('doc:1')?.tuples, SUBJECTS.length);
});

test('nothing is preloaded while memory or the capacity for reads is short', async () => {
  const { slot } = await openUsed();
  await slot.tenure.release(RELEASE);
  await slot.tenure.leave(RELEASE.limitMs);
  const full = new MemoryBudget(100_000_000, new FairTurns(real));
  full.hold(95_000_000);
  const heir = await slot.restart({ budget: full });
  await waitFor('the list to be read', () => heir.faults.calls('readHotPages') === 1);
  heir.tenure.hotPages.preload();
  await waitFor('the list to be read again', () => heir.faults.calls('readHotPages') === 2);
  await nextTurn();
  assert.deepEqual(heir.preloads, []);
  const busy = new MemoryBudget(100_000_000, new FairTurns(real));
  const leaves = await Promise.all(
    Array.from({ length: 40 }, (_, index) => busy.loads.enter(`tenant ${index}`, 200_000, heir.clock)),
  );
  const next = await heir.restart({ budget: busy });
  await waitFor('the pages to be skipped', () => next.preloads.length === SUBJECTS.length);
  assert.equal(count(next, 'skipped'), SUBJECTS.length);
  for (const leave of leaves) leave();
});

test('an ended tenure releases its memory and records no more uses', async () => {
  const { slot, tenantId } = await openUsed();
  slot.tenure.end('over');
  await waitFor('the pages to be dropped', () => slot.budget.pageBytes === 0);
  const { bytes } = slot.budget;
  slot.tenure.hotPages.note({ tenantId, side: 'subject', entity: 'user:1' });
  assert.equal(slot.budget.bytes, bytes);
  await slot.tenure.hotPages.storeNow();
});
