// The export of the audit log over all slots: every change once, whatever moves meanwhile, and nothing skipped.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditExportPage, AuditExportQuery } from '../../../../src/front/front.ts';
import type { LoggedChange } from '../../../../src/shard/shard.ts';
import { contextFor, newTenantId, type Stage, type StageOptions, setStage, until } from '../harness.ts';

const CONSOLE: StageOptions = { front: { peer: 'console' }, shards: 2, slots: 6 };

const read = (stage: Stage, query: AuditExportQuery = {}, limitMs?: number): Promise<AuditExportPage> =>
  stage.front.operator.exportAuditLog(contextFor(limitMs), query);

async function readToEnd(stage: Stage, query: AuditExportQuery = {}) {
  const items: LoggedChange[] = [];
  let page = await read(stage, query);
  while (true) {
    items.push(...page.items);
    if (page.atEnd) return { items, cursor: page.cursor };
    page = await read(stage, { cursor: page.cursor });
  }
}

const placesOf = (items: readonly LoggedChange[]): readonly string[] =>
  items.map(({ tenantId, seq, index }) => `${tenantId}.${seq}.${index}`).sort();

test('every change of every slot is told once, and later pages have what came since', async (t) => {
  const stage = await setStage(t, CONSOLE);
  const { world } = stage;
  const tenants = Array.from({ length: world.slots }, (_, slot) => newTenantId(world, [slot]));
  const append = (count: number) =>
    tenants.flatMap((tenantId, slot) => (slot < count ? world.append(tenantId, 2) : []));
  const expected = [6, 6, 3, 1, 6].flatMap(append);
  const all = await readToEnd(stage);
  assert.deepEqual(placesOf(all.items), placesOf(expected));
  for (const tenantId of tenants) {
    const seqs = all.items.filter((item) => item.tenantId === tenantId).map(({ seq, index }) => seq * 10 + index);
    assert.deepEqual(
      seqs,
      seqs.toSorted((left, right) => left - right),
      'in the order of its log',
    );
  }
  const readsBefore = stage.shards.reduce((count, shard) => count + shard.count('readLog'), 0);
  const nothing = await read(stage, { cursor: all.cursor });
  assert.deepEqual([nothing.items, nothing.atEnd, nothing.slotsMissing], [[], true, 0]);
  assert.equal(
    stage.shards.reduce((count, shard) => count + shard.count('readLog'), 0),
    readsBefore,
    'no slot is read without news',
  );
  const later = append(4);
  assert.deepEqual(placesOf((await readToEnd(stage, { cursor: nothing.cursor })).items), placesOf(later));
  const since = await readToEnd(stage, { since: 5000 });
  assert.deepEqual(placesOf(since.items), placesOf([...expected, ...later].filter(({ atMs }) => atMs >= 5000)));
  const fromNow = await read(stage, { since: 'now' });
  assert.deepEqual(fromNow.items, []);
  const latest = append(2);
  assert.deepEqual(placesOf((await readToEnd(stage, { cursor: fromNow.cursor })).items), placesOf(latest));
});

test('a slot without an owner waits where it is, delays no other, and an export does not begin without it', async (t) => {
  const stage = await setStage(t, CONSOLE);
  const { world } = stage;
  const [first, second] = stage.shards;
  assert.ok(first && second);
  const begun = await readToEnd(stage);
  const lost = [...second.epochs.keys()];
  const here = world.append(newTenantId(world, [...first.epochs.keys()]));
  const there = world.append(newTenantId(world, lost));
  second.release(lost);
  await until(() => !stage.front.ready());
  const partial = await read(stage, { cursor: begun.cursor });
  assert.deepEqual(placesOf(partial.items), placesOf(here));
  assert.deepEqual([partial.atEnd, partial.slotsMissing], [false, lost.length]);
  await assert.rejects(read(stage, {}, 300), { code: 'unavailable' });
  first.own(lost, stage.servers[0]?.address);
  assert.deepEqual(placesOf((await readToEnd(stage, { cursor: partial.cursor })).items), placesOf(there));
});

test('a slot that moves after the shards have told their ends is read at its next owner', async (t) => {
  const stage = await setStage(t, CONSOLE);
  const { world } = stage;
  const [first, second] = stage.shards;
  assert.ok(first && second);
  const moved = [...second.epochs.keys()];
  const expected = moved.flatMap((slot) => world.append(newTenantId(world, [slot])));
  second.onCall = async (name) => {
    if (name !== 'readLog' || second.epochs.size === 0) return;
    second.release(moved);
    first.own(moved, stage.servers[0]?.address);
  };
  assert.deepEqual(placesOf((await readToEnd(stage)).items), placesOf(expected));
  assert.ok(first.count('readLog') > 0);
});

test('what a log has lost is told with a cursor to go on, and a place ahead of a log is refused', async (t) => {
  const stage = await setStage(t, CONSOLE);
  const { world } = stage;
  const tenantId = newTenantId(world, [3]);
  const { cursor } = await readToEnd(stage);
  const entries = Array.from({ length: 9 }, () => world.append(tenantId));
  const log = world.logOf(3);
  log.entries.splice(0, 4);
  log.first = 5;
  const refused = await read(stage, { cursor }).then(
    () => assert.fail('a log with a gap was read'),
    (error) => error,
  );
  assert.equal(refused.code, 'cursor-too-old');
  const rest = await readToEnd(stage, { cursor: refused.details.earliest });
  assert.deepEqual(placesOf(rest.items), placesOf(entries.slice(4).flat()));
  // As after a backup was restored.
  log.entries.splice(2);
  await assert.rejects(read(stage, { cursor: rest.cursor }), { code: 'invalid-cursor' });
  await assert.rejects(read(stage, { cursor: `${rest.cursor}A` }), { code: 'invalid-cursor' });
});

test('slots take turns if one of them has more than a page', async (t) => {
  const stage = await setStage(t, { ...CONSOLE, shards: 1, slots: 12 });
  const { world } = stage;
  world.entriesPerPage = 1;
  const tenants = Array.from({ length: world.slots }, (_, slot) => newTenantId(world, [slot]));
  const long = 'x'.repeat(300_000);
  for (const tenantId of tenants) {
    for (let entry = 0; entry < 3; entry += 1) {
      world.append(tenantId);
      const { entries } = world.logOf(world.slotOf(tenantId));
      entries[entries.length - 1] = (entries.at(-1) ?? []).map((change) => ({ ...change, change: long }));
    }
  }
  const pages = [await read(stage)];
  while (pages.at(-1)?.atEnd === false) pages.push(await read(stage, { cursor: pages.at(-1)?.cursor }));
  const early = new Set(pages.slice(0, 3).flatMap(({ items }) => items.map(({ tenantId }) => tenantId)));
  assert.equal(early.size, 12, 'every slot within the first pages');
  assert.ok(pages.every(({ items }) => items.length <= 4));
  const all = pages.flatMap(({ items }) => items);
  assert.equal(new Set(placesOf(all)).size, 36);
  assert.equal(all.length, 36);
});
