// The hot pages of a slot: the next owner finds them in memory, and nothing that a list says changes an answer.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { FairTurns } from '../../../../src/core/async/turns.ts';
import { encodeHotPages, type NamedPage, PagesAhead } from '../../../../src/shard/log/hot-pages.ts';
import { readSlotState } from '../../../../src/shard/log/recovery.ts';
import { MemoryBudget } from '../../../../src/shard/memory/memory-budget.ts';
import { WRITE_BEHIND } from '../../../kit/store/faulty-store.ts';
import { waitFor } from '../../../kit/wait-for.ts';
import { grantOf, RuledSlot } from '../evaluation/ruled-slot.ts';
import { OpenSlot, openSlot, RELEASE, real, SLOT, soon, tuple } from '../tools.ts';

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

test('pages that were used too seldom to be sampled are known as well, as long as the list is short', async () => {
  const { slot, memory, tenantId, handle } = await openSlot();
  const subjects = Array.from({ length: 200 }, (_, index) => `user:${index}`);
  for (const subject of subjects) await slot.grant(handle, tuple(subject, 'doc:1'));
  for (const subject of subjects.slice(0, 15)) await slot.connection.check(handle, subject, 1, 'doc:1');
  await slot.tenure.hotPages.storeNow();
  const stored = (await memory.readHotPages(SLOT, soon())) ?? '';
  for (const subject of subjects.slice(0, 15)) assert.ok(stored.includes(`"subject","${subject}"`), subject);
  assert.ok(JSON.parse(stored).pages.length <= 128);
  const heir = await slot.restart();
  await waitFor('the pages to be loaded', () => heir.preloads.length >= 15);
  assert.ok(heir.tenure.tenants.get(tenantId)?.pages.get('user:3')?.whole);
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

test('pages are loaded in few reads, the hottest first, and those with many rows after all others', async (t) => {
  const { memory, slot, tenantId, handle } = await openUsed();
  const large = Array.from({ length: 50 }, (_, index) => tuple('user:large', `doc:${index}`));
  await slot.writeAll(handle, large);
  await slot.tenure.checkpointed();
  const hottest: NamedPage = { tenantId, side: 'object', entity: 'doc:2' };
  const subjects = ['user:large', ...SUBJECTS].map((entity): NamedPage => ({ tenantId, side: 'subject', entity }));
  await memory.writeHotPages(SLOT, encodeHotPages([hottest, ...subjects]), Date.now() + 3_600_000, soon());
  const [each, eachObject, one] = [
    t.mock.method(memory, 'listGrantsOfEach'),
    t.mock.method(memory, 'listObjectGrantsOfEach'),
    t.mock.method(memory, 'listGrants'),
  ].map(({ mock }) => mock);
  const heir = await slot.restart();
  await waitFor('the pages to be loaded', () => heir.preloads.length === SUBJECTS.length + 2);
  assert.equal(count(heir, 'loaded'), SUBJECTS.length + 2);
  assert.deepEqual(
    [eachObject, each, one].map((calls) => calls?.callCount()),
    [1, 1, 1],
  );
  const known = heir.tenure.tenants.get(tenantId);
  assert.ok(known?.pages.get('user:large')?.whole && known.objectPages.get('doc:2')?.whole);
});

test('a call for a page that is being loaded with others waits for that read', async () => {
  const { slot, tenantId } = await openUsed();
  await slot.tenure.release(RELEASE);
  await slot.tenure.leave(RELEASE.limitMs);
  const heir = await OpenSlot.claim(slot.memory);
  heir.faults.turn('hold', ['listGrants']);
  await heir.tenure.open();
  const handle = await heir.handle(tenantId);
  await waitFor('the read', () => heir.faults.heldCalls() === 1);
  const checks = SUBJECTS.map((subject) => heir.check(handle, tuple(subject, 'doc:1')));
  await new Promise(setImmediate);
  assert.equal(heir.faults.heldCalls(), 1);
  heir.faults.restore(['listGrants']);
  assert.deepEqual(new Set(await Promise.all(checks)), new Set([true]));
});

test('a call reads for itself what could not be loaded with others', async () => {
  const { slot, tenantId } = await openUsed();
  await slot.tenure.release(RELEASE);
  await slot.tenure.leave(RELEASE.limitMs);
  const heir = await OpenSlot.claim(slot.memory);
  heir.faults.turn('hold', ['listGrants']);
  await heir.tenure.open();
  const handle = await heir.handle(tenantId);
  await waitFor('the read', () => heir.faults.heldCalls() === 1);
  const check = heir.check(handle, tuple('user:1', 'doc:1'));
  heir.faults.turn('fail-before', ['listGrants']);
  const outcome = await check.catch(() => 'failed');
  heir.faults.restore(['listGrants']);
  assert.ok(outcome === 'failed' || outcome === true, 'never a deny');
  assert.equal(await heir.check(handle, tuple('user:1', 'doc:1')), true);
});

/**
 * A slot whose state tables lack its last two commits, and its pages on both sides as they were read ahead before
 * these: of `user:1` and `doc:1`, for which `before` was granted; now `after` is.
 */
async function readAhead() {
  const { memory, slot, tenantId, handle } = await openSlot();
  const [before, after] = [tuple('user:1', 'doc:1'), { ...tuple('user:1', 'doc:1'), relation: 'admin' as const }];
  await slot.grant(handle, before);
  await slot.tenure.checkpointed();
  const pages: NamedPage[] = [
    { tenantId, side: 'subject', entity: 'user:1' },
    { tenantId, side: 'object', entity: 'doc:1' },
  ];
  await memory.writeHotPages(SLOT, encodeHotPages(pages), Date.now(), soon());
  const state = await readSlotState(slot, SLOT);
  const ahead = new PagesAhead(slot, SLOT);
  await ahead.read;
  assert.deepEqual(
    ahead.pages.map(({ side, rows }) => [side, rows.length]),
    [
      ['subject', 1],
      ['object', 1],
    ],
  );
  slot.faults.turn('fail-before', WRITE_BEHIND);
  await slot.revoke(handle, before);
  await slot.grant(handle, after);
  const settled = await slot.tenure.release({ limitMs: 1000, flush: false });
  slot.kill();
  return { memory, tenantId, state: { ...state, ahead }, settled };
}

/** The relations of what the pages of both sides have in memory. */
function relationsIn(heir: OpenSlot, tenantId: NamedPage['tenantId']) {
  const memory = heir.tenure.tenants.get(tenantId) ?? assert.fail();
  const pages = [memory.pages.get('user:1'), memory.objectPages.get('doc:1')];
  return pages.map((page) => page?.byRelation(undefined).map(({ relation }) => memory.relations.nameOf(relation)));
}

test('pages that were read ahead get what was committed before the opening, on both sides', async () => {
  for (const isSettled of [true, false]) {
    const { memory, tenantId, state, settled } = await readAhead();
    const heir = await OpenSlot.claim(memory);
    heir.faults.turn('hold', ['listGrants', 'listObjectGrants']);
    await heir.tenure.open(Promise.resolve(state), isSettled ? settled : undefined);
    assert.deepEqual(relationsIn(heir, tenantId), [['admin'], ['admin']]);
    assert.equal(heir.faults.heldCalls(), 0);
    heir.kill();
  }
});

test('the rows that were read ahead are old without the replay', async () => {
  const { memory, tenantId, state, settled } = await readAhead();
  const pages = [...state.ahead.pages];
  state.ahead[Symbol.dispose]();
  const heir = await OpenSlot.claim(memory);
  heir.faults.turn('hold', ['listGrants', 'listObjectGrants', 'readHotPages']);
  await heir.tenure.open(Promise.resolve(state), settled);
  assert.deepEqual(relationsIn(heir, tenantId), [undefined, undefined]);
  for (const { side, entity, rows } of pages) heir.tenure.tenants.get(tenantId)?.pagesOf(side).take(entity, rows);
  assert.deepEqual(relationsIn(heir, tenantId), [['viewer'], ['viewer']]);
});

test('pages that evaluations use are hot on both sides, and so are those of kept answers', async () => {
  const rules = {
    rules: [
      { namespace: 'folder', name: 'can_read', any_of: ['viewer'] },
      { namespace: 'doc', name: 'can_read', any_of: ['viewer', 'can_read from parent'] },
    ],
  };
  const docs = Array.from({ length: 40 }, (_, index) => `doc:${index}`);
  const grants = ['user:1 viewer folder:1', ...docs.map((doc) => `folder:1 parent ${doc}`)].map(grantOf);
  const ruled = await RuledSlot.open(rules, grants);
  for (let round = 0; round < 5; round += 1) {
    for (const doc of docs) assert.equal(await ruled.check(`user:1 can_read ${doc}`), true);
  }
  await ruled.slot.tenure.release(RELEASE);
  await ruled.slot.tenure.leave(RELEASE.limitMs);
  const heir = await ruled.slot.restart();
  const stored = (await heir.memory.readHotPages(SLOT, soon())) ?? '';
  assert.match(stored, /"subject","user:1"/);
  assert.match(stored, /"object","doc:/);
  await waitFor('the pages to be loaded', () => heir.preloads.length > 2);
  const known = heir.tenure.tenants.get(ruled.tenantId);
  await waitFor('the rules and the keys to be loaded', () => known?.rules.ready !== undefined);
  assert.notEqual(known?.keys.loaded, undefined);
});
