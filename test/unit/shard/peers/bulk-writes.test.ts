// Bulk writes: many changes at one moment, or none of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCondition } from '../../../../src/core/grant-terms.ts';
import type { Tuple } from '../../../../src/core/tuples.ts';
import { parseRuleSet } from '../../../../src/rules/parse-rule-set.ts';
import { RulesText } from '../../../../src/rules/rules-text.ts';
import { ENTRY_BYTES_MAX } from '../../../../src/shard/log/entries.ts';
import type { Attempt, BulkWrite, BulkWriteResult } from '../../../../src/shard/shard.ts';
import { attempt, type OpenSlot, openSlot, SLOT, settled, soon, tuple, waitFor } from '../tools.ts';

const bulk = (parts: Partial<BulkWrite>): BulkWrite => ({ grants: [], revocations: [], preconditions: [], ...parts });
const exists = (each: Tuple) => ({ ...each, exists: true });
const absent = (each: Tuple) => ({ ...each, exists: false });

const END_MS = Date.UTC(2090, 0, 1);
const A = tuple('user:a', 'doc:1');
const B = tuple('user:b', 'doc:2');
const C = tuple('user:c', 'doc:3');

const write = (slot: OpenSlot, handle: number, parts: Partial<BulkWrite>, by: Attempt = slot.attempt()) =>
  slot.connection.writeBulk(handle, by, bulk(parts));

function written(result: BulkWriteResult): Extract<BulkWriteResult, { kind: 'written' }> {
  if (result.kind !== 'written') throw new Error(`The write was ${result.kind}.`);
  return result;
}

const checks = (slot: OpenSlot, handle: number, tuples: readonly Tuple[]): Promise<boolean[]> =>
  Promise.all(tuples.map((each) => slot.check(handle, each)));

test('what was decided earlier in the same entry counts as the state before', async () => {
  const { slot, handle } = await openSlot();
  const [, , late, unmet] = await slot.inOneEntry(
    () => slot.grant(handle, C),
    () => write(slot, handle, { grants: [A], revocations: [C] }),
    () => slot.grant(handle, B),
    () => write(slot, handle, { grants: [A, C], revocations: [B], preconditions: [exists(A), absent(C), exists(B)] }),
    () => write(slot, handle, { grants: [A], preconditions: [exists(B)] }),
  );
  const result = written(await late);
  assert.deepEqual(
    result.grants.map(({ created }) => created),
    [false, true],
  );
  assert.deepEqual(result.revoked, [true]);
  assert.deepEqual(await unmet, { kind: 'precondition-not-met', precondition: 0 });
  assert.deepEqual(slot.batches, [1, 3], 'all in one entry');
  assert.deepEqual(await checks(slot, handle, [A, B, C]), [true, false, true]);
});

test('the first grant of a subject lists it once, however many the write creates', async () => {
  const { memory, slot, handle, tenantId } = await openSlot();
  const { lastSeq } = slot.tenure;
  await write(slot, handle, { grants: ['doc:1', 'doc:2', 'doc:3'].map((object) => tuple('user:new', object)) });
  const body = (await memory.readRecord(SLOT, lastSeq + 1, soon()))?.body ?? '';
  assert.equal(body.match(/"newSubject":true/g)?.length, 1);
  const { items } = await slot.operator.listSubjects(handle, { limit: 10, cursor: undefined });
  assert.deepEqual(items, ['user:new']);
  await slot.applied();
  const heir = await slot.restart();
  assert.deepEqual(await heir.list(await heir.handle(tenantId), 'user:new'), ['doc:1', 'doc:2', 'doc:3']);
});

test('a write that changes nothing is not logged, and its repeat gets the same result', async () => {
  const { slot, handle } = await openSlot();
  await slot.grant(handle, A);
  const { lastSeq } = slot.tenure;
  const by = slot.attempt();
  const parts = { grants: [A], revocations: [B], preconditions: [exists(A)] };
  const first = written(await write(slot, handle, parts, by));
  assert.deepEqual([first.grants[0]?.created, first.revoked[0]], [false, false]);
  assert.equal(slot.tenure.lastSeq, lastSeq);
  await slot.revoke(handle, A);
  assert.deepEqual(await write(slot, handle, parts, by), first);
  assert.equal(await slot.check(handle, A), false);
});

for (const how of ['from memory', 'by replay', 'from the tail of the log']) {
  test(`a repeat gets the first result exactly, ${how}`, async () => {
    const { slot, handle, tenantId } = await openSlot();
    await slot.grant(handle, B);
    const by = attempt();
    const parts = { grants: [A, B], revocations: [C, tuple('user:z', 'doc:9')], preconditions: [absent(A), exists(B)] };
    await slot.grant(handle, C);
    const first = written(await write(slot, handle, parts, by));
    await slot.revoke(handle, A);
    await slot.grant(handle, C);
    if (how === 'from the tail of the log') await slot.tenure.checkpointed();
    const owner = how === 'from memory' ? slot : await slot.restart();
    const repeated = await write(owner, await owner.handle(tenantId), parts, by);
    assert.deepEqual(repeated, first);
    assert.deepEqual(await checks(owner, await owner.handle(tenantId), [A, C]), [false, true]);
  });
}

test('a repeat while the first is in flight gets its result, and a lost reply of the store is settled', async () => {
  const { slot, handle } = await openSlot();
  slot.faults.turn('hold', ['append']);
  const by = slot.attempt();
  const first = write(slot, handle, { grants: [A, B] }, by);
  await waitFor(() => slot.faults.heldCalls() === 1);
  const second = write(slot, handle, { grants: [A, B] }, by);
  assert.equal(await settled(second), false);
  slot.faults.restore(['append']);
  assert.deepEqual(await second, await first);
  slot.faults.turn('fail-after', ['append']);
  const lost = write(slot, handle, { grants: [C], revocations: [A] });
  await waitFor(() => slot.faults.calls('append') > 1);
  slot.faults.restore(['append']);
  assert.deepEqual(written(await lost).revoked, [true]);
  assert.deepEqual(await checks(slot, handle, [A, B, C]), [false, true, true]);
});

test('100 changes of the longest tuples fit into one entry, and as many writes into several', async () => {
  const { memory, slot, handle } = await openSlot();
  const long = (index: number, character: string) =>
    `${'n'.repeat(58)}${String(index).padStart(6, '0')}:${character.repeat(256)}`;
  const { lastSeq } = slot.tenure;
  for (const character of ['\u{1F600}', '"', '\uFFFD']) {
    const tuples = Array.from({ length: 100 }, (_, index) =>
      tuple(long(2 * index, character), long(2 * index + 1, character)),
    );
    const results = await Promise.all([
      write(slot, handle, { grants: tuples.slice(0, 100) }),
      write(slot, handle, { revocations: tuples.slice(0, 100) }),
      write(slot, handle, { grants: tuples.slice(0, 100) }),
    ]);
    assert.deepEqual(
      results.map((result) => written(result).grants.length + written(result).revoked.length),
      [100, 100, 100],
    );
  }
  for (let seq = lastSeq + 1; seq <= slot.tenure.lastSeq; seq += 1) {
    const record = await memory.readRecord(SLOT, seq, soon());
    assert.ok(Buffer.byteLength(record?.body ?? '') <= ENTRY_BYTES_MAX);
  }
});

test('the longest conditions, those before and those after, fit into one entry, however the writes gather', async () => {
  const { memory, slot, handle } = await openSlot();
  const name = 'c'.repeat(64);
  const declared = { name, parameters: { a: 'string', b: 'string' }, expression: 'a == b' };
  const ruleSet = parseRuleSet({ conditions: [declared], rules: [], groups: false, public: [] });
  await slot.connection.writeRules(handle, slot.attempt(), { rules: RulesText.of(ruleSet), ifMatch: undefined });
  // Each quote is escaped in the context, and once more in the log.
  const condition = (each: 'a' | 'b'): string =>
    parseCondition({ name, context: { [each]: '"'.repeat(250) } }).condition ?? '';
  const long = (index: number): string =>
    `${'n'.repeat(58)}${String(index % 7).padStart(6, '0')}:${'\uFFFD'.repeat(250)}${index}`;
  const tuples = Array.from({ length: 100 }, (_, index) => tuple(long(2 * index), long(2 * index + 1)));
  const { lastSeq } = slot.tenure;
  const terms = [
    { condition: condition('a') },
    { condition: condition('b') },
    { expiresAtMs: END_MS },
    { condition: null },
  ];
  const calls = terms.map((each) => () => write(slot, handle, { grants: tuples.map((of) => ({ ...of, ...each })) }));
  for (const result of await slot.inOneEntry(() => slot.grant(handle, C), ...calls))
    assert.equal(written(await result).grants.length, 100);
  assert.deepEqual(slot.lost, []);
  let updates = 0;
  for (let seq = lastSeq + 1; seq <= slot.tenure.lastSeq; seq += 1) {
    const body = (await memory.readRecord(SLOT, seq, soon()))?.body ?? '';
    assert.ok(Buffer.byteLength(body) <= ENTRY_BYTES_MAX);
    updates += body.split('"grant-updated"').length - 1;
  }
  assert.equal(updates, 300, 'of all writes but the first, which creates the grants');
});
