// What answers rest on: a change of a grant has the numbers of all reads that it can change, and hardly any other.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChangedReads, GrantReads, readsChangedBy } from '../../../../src/shard/memory/grant-reads.ts';

const VIEWER = 3;
const PARENT = 5;

function numbersOf(record: (reads: GrantReads) => void): readonly number[] {
  const reads = new GrantReads(100);
  record(reads);
  assert.ok(reads.numbers !== undefined);
  return reads.numbers;
}

const isChanged = (record: (reads: GrantReads) => void, ...grant: Parameters<typeof readsChangedBy>): boolean =>
  numbersOf(record).some((number) => readsChangedBy(...grant).includes(number));

test('a grant changes every read that could see it', () => {
  for (const subject of ['user:a', 'team:a#member', 'team:a#b#member', 'user:*', '*']) {
    const grant = [subject, VIEWER, 'doc:1'] as const;
    assert.ok(isChanged((reads) => reads.tuple(subject, 'doc:1'), ...grant));
    assert.ok(isChanged((reads) => reads.subjects('doc:1', [PARENT, VIEWER]), ...grant));
    assert.ok(isChanged((reads) => reads.objects(subject, undefined), ...grant));
    assert.ok(isChanged((reads) => reads.objects(subject, [PARENT, VIEWER]), ...grant));
    assert.equal(
      isChanged((reads) => reads.groups('doc:1'), ...grant),
      subject.includes('#'),
    );
  }
});

test('a grant changes no read of another subject, object or relation', () => {
  const grant = ['user:a', VIEWER, 'doc:1'] as const;
  assert.ok(!isChanged((reads) => reads.tuple('user:b', 'doc:1'), ...grant));
  assert.ok(!isChanged((reads) => reads.tuple('user:a', 'doc:2'), ...grant));
  assert.ok(!isChanged((reads) => reads.subjects('doc:1', [PARENT]), ...grant));
  assert.ok(!isChanged((reads) => reads.subjects('doc:2', [VIEWER]), ...grant));
  assert.ok(!isChanged((reads) => reads.objects('user:a', [PARENT]), ...grant));
  assert.ok(!isChanged((reads) => reads.objects('user:b', undefined), ...grant));
});

test('reads that are too many are not complete', () => {
  const reads = new GrantReads(2);
  reads.tuple('user:a', 'doc:1');
  reads.tuple('user:a', 'doc:1');
  reads.tuple('user:a', 'doc:2');
  assert.equal(reads.numbers?.length, 2);
  reads.tuple('user:a', 'doc:3');
  assert.equal(reads.numbers, undefined);
});

test('a change is known after the table has grown, within its bytes', () => {
  const changed = new ChangedReads(64 * 1024);
  changed.fit(1);
  const numbers = Int32Array.from({ length: 2000 }, (_, index) => Math.imul(index, 0x9e3779b1));
  changed.change([numbers[7] ?? 0], 1);
  for (const count of [1, 5000, 1_000_000]) {
    changed.fit(count);
    assert.equal(changed.areUnchanged(numbers, 7, 1, 0), false);
    assert.equal(changed.areUnchanged(numbers, 7, 1, 1), true);
    assert.ok(changed.bytes <= 64 * 1024);
  }
  const others = Array.from(numbers.keys()).filter((index) => changed.areUnchanged(numbers, index, 1, 0));
  assert.ok(others.length > 1990);
});
