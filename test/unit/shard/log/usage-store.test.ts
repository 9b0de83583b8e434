// The usage of tenants in the store: it outlives owners, however they end, is never counted twice, and is read by the
// minute for a day and by the hour for a month.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRuleSet } from '../../../../src/rules/parse-rule-set.ts';
import { RulesText } from '../../../../src/rules/rules-text.ts';
import { storeDueUsage, USAGE_STORE_MS } from '../../../../src/shard/log/usage-store.ts';
import { bucketsIn, HOUR_ROWS, MINUTE_ROWS, placesOf, rowsOfHour } from '../../../../src/shard/memory/tenant-usage.ts';
import { createMemoryStore, OpenSlot, portsOf, RELEASE, SLOT, soon } from '../tools.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** A slot with one tenant, whose clocks stand at 25 minutes past the hour until they are moved. */
async function openSlot() {
  const time = { passedMs: 0 };
  const startMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS + 25 * MINUTE_MS;
  const clocks = { wallMs: () => startMs + time.passedMs, aheadMs: () => time.passedMs };
  const memory = await createMemoryStore();
  const slot = await OpenSlot.open(memory, clocks);
  const tenantId = await slot.createTenant('standard');
  const use = (owner: OpenSlot, requests: number, refused = 0): void => {
    const minute = Math.floor(clocks.wallMs() / MINUTE_MS);
    const report = { slot: SLOT, tenantId, minute, requests, refused, checks: 2 * requests };
    owner.front.report({ load: undefined, usage: [report], problems: [], asked: [], awaited: [] });
  };
  const store = (owner: OpenSlot) => storeDueUsage(portsOf(owner), owner.tenure.due);
  /** Requests by the minutes, or hours, since the start. */
  const read = async (owner: OpenSlot, backMs: number) => {
    const { bucketMs, buckets } = await owner.operator.readUsage({ tenantId, sinceMs: clocks.wallMs() - backMs });
    const first = Math.floor(startMs / bucketMs);
    return buckets.map(({ atMs, requests }) => [atMs / bucketMs - first, requests]);
  };
  const rows = async () => (await memory.readUsage({ tenantId, from: 0, to: 1000 }, soon())).length;
  return { time, clocks, memory, slot, tenantId, use, store, read, rows };
}

test('usage is stored at most every five minutes, and an owner that dies loses no more than those', async () => {
  const { time, clocks, slot, use, store, read, rows } = await openSlot();
  use(slot, 5);
  await store(slot);
  assert.equal(await rows(), 0, 'it is too early');
  time.passedMs += USAGE_STORE_MS;
  use(slot, 7);
  await store(slot);
  assert.equal(await rows(), 2, 'the minutes of the hour, and their sum');
  time.passedMs += MINUTE_MS;
  use(slot, 100);
  await store(slot);
  assert.deepEqual(await read(slot, HOUR_MS - MINUTE_MS), [
    [0, 5],
    [5, 7],
    [6, 100],
  ]);
  const heir = await slot.restart(clocks);
  const stored = [
    [0, 5],
    [5, 7],
  ];
  assert.deepEqual(await read(heir, HOUR_MS - MINUTE_MS), stored);
  assert.deepEqual(await read(heir, 2 * DAY_MS), [[0, 12]]);
});

test('the next owner adds to what was stored, once, whenever it is read', async () => {
  const { time, clocks, slot, use, store, read } = await openSlot();
  use(slot, 5);
  time.passedMs += MINUTE_MS;
  use(slot, 10);
  await slot.tenure.release(RELEASE);
  await slot.tenure.leave(RELEASE.limitMs);
  const heir = await slot.restart(clocks);
  use(heir, 1);
  const both = [
    [0, 5],
    [1, 11],
  ];
  assert.deepEqual(await read(heir, HOUR_MS - MINUTE_MS), both, 'before it has stored anything');
  assert.deepEqual(await read(heir, 2 * DAY_MS), [[0, 16]]);
  time.passedMs += USAGE_STORE_MS;
  await store(heir);
  const reads = heir.faults.calls('readUsage');
  assert.deepEqual(await read(heir, HOUR_MS - MINUTE_MS), both);
  assert.equal(heir.faults.calls('readUsage'), reads, 'the last hour is in memory');
  assert.deepEqual(await read(heir, 2 * DAY_MS), [[0, 16]]);
  const third = await heir.restart(clocks);
  assert.deepEqual(await read(third, HOUR_MS - MINUTE_MS), both);
});

test('an hour is stored to its last minute, though the next one has begun', async () => {
  const { time, slot, use, store, read, clocks } = await openSlot();
  for (let minute = 0; minute < 50; minute += 1) {
    use(slot, 1);
    await store(slot);
    time.passedMs += MINUTE_MS;
  }
  await store(slot);
  const heir = await slot.restart(clocks);
  const expected = Array.from({ length: 50 }, (_, minute) => [minute, 1]);
  assert.deepEqual(await read(heir, DAY_MS), expected);
  assert.deepEqual(await read(heir, 30 * DAY_MS), [
    [0, 35],
    [1, 15],
  ]);
});

test('a month is kept by the hour and a day by the minute, in a bounded number of rows', async () => {
  const { time, slot, use, store, read, rows, clocks } = await openSlot();
  const hours = 33 * 24;
  for (let hour = 0; hour < hours; hour += 1) {
    use(slot, hour + 1);
    time.passedMs += USAGE_STORE_MS;
    await store(slot);
    time.passedMs += HOUR_MS - USAGE_STORE_MS;
  }
  assert.equal(await rows(), MINUTE_ROWS.hours + HOUR_ROWS.hours);
  const heir = await slot.restart(clocks);
  const byHour = await read(heir, 31 * DAY_MS);
  assert.deepEqual(
    [byHour.length, byHour[0], byHour.at(-1)],
    [31 * 24, [hours - 31 * 24, hours - 31 * 24 + 1], [hours - 1, hours]],
  );
  assert.equal((await read(heir, 400 * DAY_MS)).length, HOUR_ROWS.hours - 1, 'no more than is kept');
  assert.equal((await read(heir, DAY_MS)).length, 24);
});

test('what cannot be stored is stored later, and what cannot be read is an error, never nothing', async () => {
  const { time, slot, use, store, read, rows } = await openSlot();
  use(slot, 5);
  time.passedMs += USAGE_STORE_MS;
  for (const name of ['readUsage', 'writeUsage'] as const) {
    slot.faults.turn('fail-before', [name]);
    await assert.rejects(store(slot));
    slot.faults.restore([name]);
    assert.equal(await rows(), 0);
    time.passedMs += USAGE_STORE_MS;
  }
  await store(slot);
  assert.equal(await rows(), 2);
  slot.faults.turn('fail-before', ['readUsage']);
  await assert.rejects(read(slot, 2 * DAY_MS), { kind: 'not-serving' });
  assert.deepEqual(await read(slot, HOUR_MS - MINUTE_MS), [[0, 5]], 'that is in memory');
  slot.faults.restore(['readUsage']);
});

test('a deleted tenant keeps nothing, and gets nothing back', async () => {
  const { time, slot, use, store, rows, tenantId } = await openSlot();
  use(slot, 5);
  time.passedMs += USAGE_STORE_MS;
  await store(slot);
  use(slot, 5);
  await slot.update({ tenantId, state: 'deleting' });
  await slot.memory.purgeTenant({ slot: SLOT, tenantId }, Number.MAX_SAFE_INTEGER, soon());
  time.passedMs += USAGE_STORE_MS;
  await store(slot);
  assert.equal(await rows(), 0);
});

test('rows are read as they were written; those of another hour, and damaged ones, are nothing', () => {
  const hour = 500_000;
  const minutes = [
    { atMs: hour * HOUR_MS, requests: 1, refused: 1, checks: 0, plan: 'free' },
    { atMs: hour * HOUR_MS + 59 * MINUTE_MS, requests: 2 ** 32, refused: 0, checks: 9, plan: 'scale' },
  ];
  const [byMinute, byHour] = rowsOfHour(hour, minutes);
  assert.ok(byMinute !== undefined && byHour !== undefined);
  assert.deepEqual(bucketsIn(byMinute, hour, hour), minutes);
  const sum = { atMs: hour * HOUR_MS, requests: 2 ** 32 + 1, refused: 1, checks: 9, plan: 'scale' };
  assert.deepEqual(bucketsIn(byHour, hour - 5, hour + 5), [sum]);
  assert.deepEqual(bucketsIn(byMinute, hour + 1, hour + MINUTE_ROWS.hours), []);
  const damaged = ['', '{}', '[]', 'null', `[${hour}]`, `[${hour},[[60,1,0,1]]]`, `[${hour},[[0,-1,0,1]]]`];
  for (const counts of [...damaged, `[${hour},[[0,1,0]]]`, `[${hour},[[0,1,0,1,7]]]`, `[${hour + 1},[[0,1,0,1]]]`]) {
    assert.deepEqual(bucketsIn({ ...byMinute, counts }, hour - 100, hour + 100), [], counts);
  }
  // Around the end of the places, all of them are read.
  const turn = Math.ceil(hour / MINUTE_ROWS.hours) * MINUTE_ROWS.hours;
  assert.deepEqual(placesOf(turn, turn + 1, MINUTE_ROWS), { from: 0, to: 1 });
  assert.deepEqual(placesOf(turn - 1, turn, MINUTE_ROWS), { from: 0, to: MINUTE_ROWS.hours - 1 });
});

test('names that were asked about outlive owners, whoever stores them, and only names of the present rules are kept', async () => {
  const { time, clocks, slot, tenantId, store } = await openSlot();
  const rulesOf = (...names: readonly string[]) =>
    parseRuleSet({ rules: names.map((name) => ({ namespace: 'doc', name, any_of: ['owner'] })) });
  const write = async (owner: OpenSlot, ...names: readonly string[]) => {
    const request = { rules: RulesText.of(rulesOf(...names)), ifMatch: undefined };
    await owner.connection.writeRules(await owner.handle(tenantId), owner.attempt(), request);
  };
  const ask = (owner: OpenSlot, ...names: readonly string[]) =>
    owner.front.report({
      ...{ load: undefined, usage: [], problems: [], awaited: [] },
      asked: [{ slot: SLOT, tenantId, names }],
    });
  /** Minutes since each name was asked about. */
  const vanishing = async (owner: OpenSlot) => {
    const request = { rules: RulesText.of(rulesOf()), ifMatch: undefined };
    const preview = await owner.connection.previewRules(await owner.handle(tenantId), request);
    return preview.vanishing.map(({ name, askedAtMs = Number.NaN }) => [
      name,
      Math.floor(clocks.wallMs() / MINUTE_MS) - askedAtMs / MINUTE_MS,
    ]);
  };
  ask(slot, 'can_read');
  await write(slot, 'can_read', 'can_edit', 'can_sign');
  const unasked = (name: string) => [name, Number.NaN];
  assert.deepEqual(await vanishing(slot), ['can_read', 'can_edit', 'can_sign'].map(unasked), 'it had no rules then');
  ask(slot, 'can_read', 'can_fly');
  slot.front.report({
    ...{ load: undefined, usage: [], problems: [], awaited: [] },
    asked: [
      { slot: SLOT + 1, tenantId, names: ['can_sign'] },
      { slot: SLOT, tenantId: 'ten_x', names: ['can_sign'] },
    ],
  });
  time.passedMs += USAGE_STORE_MS;
  ask(slot, 'can_edit');
  const both = [['can_edit', 0], ['can_read', 5], unasked('can_sign')];
  assert.deepEqual(await vanishing(slot), both);
  await store(slot);
  const heir = await slot.restart(clocks);
  assert.deepEqual(await vanishing(heir), both);
  // What it stores includes what it found.
  ask(heir, 'can_edit');
  time.passedMs += USAGE_STORE_MS;
  await store(heir);
  const third = await heir.restart(clocks);
  assert.deepEqual(await vanishing(third), [['can_edit', 5], ['can_read', 10], unasked('can_sign')]);
  await write(third, 'can_read', 'can_fly');
  assert.deepEqual(await vanishing(third), [['can_read', 10], unasked('can_fly')]);
  time.passedMs += DAY_MS;
  assert.deepEqual(await vanishing(third), [unasked('can_read'), unasked('can_fly')]);
  third.faults.turn('fail-before', ['readUsage']);
  await assert.rejects(vanishing(third), { kind: 'not-serving' }, 'never "not asked" for "not known"');
});
