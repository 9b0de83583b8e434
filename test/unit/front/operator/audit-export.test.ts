// The export of the audit log over all slots: every change once, whatever moves meanwhile, and nothing skipped.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GrantdError } from '../../../../src/core/errors.ts';
import type { TenantId } from '../../../../src/core/ids.ts';
import type { AuditExportPage, AuditExportQuery } from '../../../../src/front/front.ts';
import type { LoggedChange } from '../../../../src/shard/shard.ts';
import type { ScriptedShard, ShardWorld } from '../../../kit/scripted-shard.ts';
import { contextFor, type Stage, type StageOptions, setStage, until } from '../harness.ts';

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

/** The audit logs of these tenants, read one by one. */
async function logged(world: ShardWorld, tenantIds: readonly TenantId[]): Promise<readonly LoggedChange[]> {
  const logs = tenantIds.map(async (tenantId) => {
    const { items } = await world.operator.listAuditLog({ tenantId, limit: 1000, cursor: undefined });
    return items.map((item) => ({ ...item, tenantId }));
  });
  return (await Promise.all(logs)).flat();
}

/** Entries of the tenant's log, each with a grant; the first one has its namespaces, too. */
async function append(world: ShardWorld, tenantId: TenantId, count = 1): Promise<void> {
  for (let entry = 0; entry < count; entry += 1) await world.grant(tenantId, `user:a viewer doc:${performance.now()}`);
}

const createTenants = ({ world }: Stage): Promise<readonly TenantId[]> =>
  Promise.all(Array.from({ length: world.slots }, (_, slot) => world.createTenant([slot])));

test('every change of every slot is told once, and later pages have what came since', async (t) => {
  const stage = await setStage(t, CONSOLE);
  const { world } = stage;
  const own = await createTenants(stage);
  const tenants = [...own, stage.tenantId];
  const appendTo = (count: number) => Promise.all(own.slice(0, count).map((tenantId) => append(world, tenantId)));
  for (const count of [6, 6, 3, 1, 6]) await appendTo(count);
  const all = await readToEnd(stage);
  const before = await logged(world, tenants);
  assert.deepEqual(placesOf(all.items), placesOf(before));
  for (const tenantId of tenants) {
    const seqs = all.items.filter((item) => item.tenantId === tenantId).map(({ seq, index }) => seq * 10 + index);
    assert.deepEqual(
      seqs,
      seqs.toSorted((left, right) => left - right),
      'in the order of its log',
    );
  }
  const reads = () => stage.shards.reduce((count, shard) => count + shard.count('readLog'), 0);
  const readsBefore = reads();
  const nothing = await read(stage, { cursor: all.cursor });
  assert.deepEqual([nothing.items, nothing.atEnd, nothing.slotsMissing], [[], true, 0]);
  assert.equal(reads(), readsBefore, 'no slot is read without news');
  const sinceMs = Math.max(...before.map(({ atMs }) => atMs)) + 1;
  await until(() => Date.now() > sinceMs);
  await appendTo(4);
  const later = (await logged(world, tenants)).filter(({ atMs }) => atMs >= sinceMs);
  assert.equal(later.length, 4);
  assert.deepEqual(placesOf((await readToEnd(stage, { cursor: nothing.cursor })).items), placesOf(later));
  assert.deepEqual(placesOf((await readToEnd(stage, { since: sinceMs })).items), placesOf(later));
  const fromNow = await read(stage, { since: 'now' });
  assert.deepEqual(fromNow.items, []);
  const known = new Set(placesOf([...before, ...later]));
  await appendTo(2);
  const latest = placesOf(await logged(world, tenants)).filter((place) => !known.has(place));
  assert.equal(latest.length, 2);
  assert.deepEqual(placesOf((await readToEnd(stage, { cursor: fromNow.cursor })).items), latest);
});

test('a slot without an owner waits where it is, delays no other, and an export does not begin without it', async (t) => {
  const stage = await setStage(t, CONSOLE);
  const { world } = stage;
  const [first, second] = stage.shards;
  assert.ok(first && second);
  const begun = await readToEnd(stage);
  const lost = [...second.epochs.keys()];
  const here = await world.createTenant([...first.epochs.keys()]);
  const there = await world.createTenant(lost);
  second.release(lost);
  await until(() => !stage.front.ready());
  const partial = await read(stage, { cursor: begun.cursor });
  assert.deepEqual(placesOf(partial.items), placesOf(await logged(world, [here])));
  assert.deepEqual([partial.atEnd, partial.slotsMissing], [false, lost.length]);
  await assert.rejects(read(stage, {}, 300), { code: 'unavailable' });
  first.own(lost, stage.servers[0]?.address);
  const rest = await readToEnd(stage, { cursor: partial.cursor });
  assert.deepEqual(placesOf(rest.items), placesOf(await logged(world, [there])));
});

test('a slot that moves after the shards have told their ends is read at its next owner', async (t) => {
  const stage = await setStage(t, CONSOLE);
  const { world } = stage;
  const [first, second] = stage.shards;
  assert.ok(first && second);
  const moved = [...second.epochs.keys()];
  const tenants = await createTenants(stage);
  second.onCall = async (name) => {
    if (name !== 'readLog' || second.epochs.size === 0) return;
    second.release(moved);
    first.own(moved, stage.servers[0]?.address);
  };
  const { items } = await readToEnd(stage);
  assert.deepEqual(placesOf(items), placesOf(await logged(world, [...tenants, stage.tenantId])));
  assert.ok(first.count('readLog') > moved.length);
});

/** The shard of the slot says of its log that it has only these entries. */
function cutLog(shard: ScriptedShard, slot: number, cut: { readonly first: number; readonly last: number }): void {
  const { listLogEnds } = shard.answers;
  shard.answers.listLogEnds = async (request, real) => {
    const ends = await (listLogEnds ?? assert.fail())(request, real);
    return { ...ends, ranges: ends.ranges.map((range) => (range.slot === slot ? { slot, ...cut } : range)) };
  };
  shard.answers.readLog = async (query, real) => {
    if (query.slot === slot && query.afterSeq > cut.last) throw new GrantdError('invalid-cursor', 'Ahead of the log.');
    if (query.slot === slot && query.afterSeq + 1 < cut.first) throw new GrantdError('cursor-too-old', 'Trimmed.');
    return real(query);
  };
}

test('what a log has lost is told with a cursor to go on, and a place ahead of a log is refused', async (t) => {
  const stage = await setStage(t, CONSOLE);
  const { world } = stage;
  const slot = 3;
  const shard = stage.shards[slot % 2] ?? assert.fail();
  const tenantId = await world.createTenant([slot]);
  const { cursor } = await readToEnd(stage);
  await append(world, tenantId, 9);
  const changes = await logged(world, [tenantId]);
  const last = changes.at(-1)?.seq ?? assert.fail();
  cutLog(shard, slot, { first: last - 4, last });
  const refused = await read(stage, { cursor }).then(
    () => assert.fail('a log with a gap was read'),
    (error) => error,
  );
  assert.equal(refused.code, 'cursor-too-old');
  const rest = await readToEnd(stage, { cursor: refused.details.earliest });
  assert.deepEqual(placesOf(rest.items), placesOf(changes.filter(({ seq }) => seq >= last - 4)));
  // As after a backup was restored.
  cutLog(shard, slot, { first: last - 4, last: last - 3 });
  await assert.rejects(read(stage, { cursor: rest.cursor }), { code: 'invalid-cursor' });
  await assert.rejects(read(stage, { cursor: `${rest.cursor}A` }), { code: 'invalid-cursor' });
});

test('slots take turns if one of them has more than a page', async (t) => {
  const stage = await setStage(t, { ...CONSOLE, shards: 1, slots: 12 });
  const { world, shard } = stage;
  const change = 'x'.repeat(300_000);
  const last = 3;
  shard.answers.listLogEnds = async (request, real) => {
    const ends = await real(request);
    return { ...ends, ranges: ends.ranges.map(({ slot }) => ({ slot, first: 1, last })) };
  };
  // An entry a page.
  shard.answers.readLog = async ({ slot, afterSeq }) => {
    const seq = afterSeq + 1;
    const item = { tenantId: `ten_${slot}`, seq, index: 0, atMs: seq, actor: 'system', requestId: 'req_1', change };
    return { items: [item], nextSeq: seq, atEnd: seq === last };
  };
  const pages = [await read(stage)];
  while (pages.at(-1)?.atEnd === false) pages.push(await read(stage, { cursor: pages.at(-1)?.cursor }));
  const early = new Set(pages.slice(0, 3).flatMap(({ items }) => items.map(({ tenantId }) => tenantId)));
  assert.equal(early.size, world.slots, 'every slot within the first pages');
  assert.ok(pages.every(({ items }) => items.length <= 4));
  const all = pages.flatMap(({ items }) => items);
  assert.equal(new Set(placesOf(all)).size, 36);
  assert.equal(all.length, 36);
});
