// A slot while what writes hold in memory is at its bound: writes wait or are refused, checks are answered, and a
// repeat still gets its first answer.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairTurns } from '../../../../src/core/async/turns.ts';
import { timeOfId } from '../../../../src/core/ids.ts';
import { encodeEntry, encodeOperation } from '../../../../src/shard/log/entries.ts';
import { MemoryBudget } from '../../../../src/shard/memory/memory-budget.ts';
import type { WriteKind } from '../../../../src/shard/memory/write-memory.ts';
import { WRITE_BEHIND } from '../../../kit/store/faulty-store.ts';
import {
  attempt,
  createMemoryStore,
  ids,
  OpenSlot,
  openSlot,
  real,
  SLOT,
  settled,
  soon,
  tuple,
  waitFor,
} from '../tools.ts';

const TUPLE = tuple('user:a', 'doc:1');

/** A budget of which other slots hold all that there is of a kind. */
function fullBudget(kind: WriteKind) {
  const budget = new MemoryBudget(100_000_000, new FairTurns(real));
  const others = budget.writes.hold(kind);
  others.add(budget.writes.state(kind).bytesMax);
  return { budget, others };
}

for (const kind of ['backlog', 'operations'] as const) {
  test(`while other slots hold all of the ${kind}, a write waits for capacity and checks are answered`, async () => {
    const { budget, others } = fullBudget(kind);
    const memory = await createMemoryStore();
    const before = await OpenSlot.open(memory);
    const tenantId = await before.createTenant();
    await before.tenure.checkpointed();
    before.kill();
    const { bytes } = others;
    others.add(-bytes);
    const slot = await OpenSlot.open(memory, { budget });
    await waitFor(() => slot.tenure.restored);
    others.add(bytes);
    const handle = await slot.handle(tenantId);
    const write = slot.grant(handle, TUPLE);
    assert.equal(await slot.check(handle, TUPLE), false);
    await waitFor(() => budget.writes.state(kind).waiting === 1);
    assert.equal(await settled(write), false);
    assert.deepEqual(slot.waits, [kind], 'the wait is reported');
    others.close();
    assert.equal((await write).kind, 'created');
  });
}

test('while other slots hold all of the queue, a write is refused as overloaded, and nothing was changed', async () => {
  const { budget, others } = fullBudget('queue');
  const slot = await OpenSlot.open(await createMemoryStore(), { budget });
  await assert.rejects(slot.createTenant(), { code: 'overloaded' });
  others.close();
  const handle = await slot.handle(await slot.createTenant());
  await slot.grant(handle, TUPLE);
  assert.equal(budget.writes.state('queue').bytes, 0);
});

test('a slot releases the memory of writes when they are confirmed, and all of it when the tenure ends', async () => {
  const slot = await OpenSlot.open(await createMemoryStore());
  const { writes } = slot.budget;
  const handle = await slot.handle(await slot.createTenant());
  await slot.tenure.applied();
  assert.equal(writes.state('backlog').bytes, 0);
  slot.faults.turn('fail-before', WRITE_BEHIND);
  await slot.grant(handle, TUPLE);
  assert.ok(writes.state('backlog').bytes > 0);
  assert.ok(writes.state('operations').bytes > 0);
  slot.faults.turn('hold', ['append']);
  const undecided = slot.grant(handle, tuple('user:b', 'doc:2'));
  await waitFor(() => slot.faults.heldCalls() === 1);
  assert.ok(writes.state('queue').bytes > 0);
  slot.tenure.end('test');
  slot.faults.restore(['append']);
  await assert.rejects(undecided);
  for (const kind of ['queue', 'backlog', 'operations'] as const) assert.equal(writes.state(kind).bytes, 0, kind);
});

test('a log that is replayed while memory is short is served at once, and its operation ids are read back later', async () => {
  const { memory, slot, tenantId, handle } = await openSlot();
  slot.faults.turn('fail-before', WRITE_BEHIND);
  const by = attempt();
  const created = await slot.grant(handle, TUPLE, by);
  await slot.revoke(handle, TUPLE);
  slot.kill();
  const { budget, others } = fullBudget('operations');
  const heir = await OpenSlot.open(memory, { budget });
  const again = await heir.handle(tenantId);
  assert.equal(await heir.check(again, TUPLE), false);
  const repeat = heir.grant(again, TUPLE, by);
  assert.equal(await settled(repeat), false);
  others.close();
  assert.deepEqual(await repeat, created);
  assert.equal(await heir.check(again, TUPLE), false);
});

test('an import that is read back takes little memory, and each of its lines gets its first answer', async () => {
  const [entries, lines] = [20, 500];
  const memory = await createMemoryStore();
  const slot = await OpenSlot.open(memory);
  const tenantId = await slot.createTenant();
  await slot.tenure.checkpointed();
  const { epoch, lastSeq } = slot.tenure;
  slot.kill();
  const base = Date.now() * 1000 + 1_000_000;
  const grants: { requestId: string; grantId: string }[] = [];
  for (let entry = 1; entry <= entries; entry += 1) {
    const requestId = ids.create('req');
    const operations = Array.from({ length: lines }, (_, index) => {
      const grantId = ids.create('grt');
      grants.push({ requestId, grantId });
      const grant = { ...tuple(`user:${index}`, `doc:${entry}`), grantId, createdAtMs: timeOfId(grantId) ?? 0 };
      const changes = [{ kind: 'grant-created' as const, grant, newSubject: entry === 1 }];
      return encodeOperation({ tenantId, actor: 'operator:test', requestId, index, atMs: Date.now(), changes });
    });
    const body = encodeEntry({ base: base + entry * 1000, elapsedMs: entry }, operations);
    await memory.append({ slot: SLOT, seq: lastSeq + entry, epoch, entryId: ids.create('ent'), body }, soon());
  }
  for (const part of ['replayed', 'restored']) {
    const heir = await OpenSlot.open(memory);
    await waitFor(() => heir.tenure.restored);
    const { bytes } = heir.budget.writes.state('operations');
    assert.ok(bytes >= 16 * entries * lines && bytes <= 20 * entries * lines, `${part}: ${bytes} bytes`);
    const handle = await heir.handle(tenantId);
    for (const place of [0, 1, entries * lines - 1]) {
      const { requestId = '', grantId } = grants[place] ?? {};
      const index = place % lines;
      const object = `doc:${1 + Math.floor(place / lines)}`;
      const repeat = heir.tenure.submit({
        tenantId,
        actor: 'operator:test',
        requestId,
        index,
        expiresAtMs: soon(),
        bytesMax: 2000,
        decide: () => assert.fail(`user:${index} ${object} was decided already`),
      });
      const result = await repeat;
      assert.ok(result.kind === 'grant' && result.grant.kind === 'created' && result.grant.grantId === grantId);
    }
    assert.equal(await heir.check(handle, tuple('user:0', 'doc:1')), true);
    await heir.tenure.checkpointed();
    heir.kill();
  }
});
