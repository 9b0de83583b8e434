// The names that applications have asked about, as an owner remembers them: for a day, few more than rules can define.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NAMES_MAX } from '../../../../src/rules/rule-set.ts';
import { ASKED_PLACES, AskedNames } from '../../../../src/shard/memory/asked-names.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const nowMs = 28_000_000 * MINUTE_MS;
const nameOf = (index: number): string => `n${index}`.padEnd(64, '_');
const seeded = (rows: Parameters<AskedNames['seed']>[0], atMs = nowMs): AskedNames => {
  const asked = new AskedNames();
  asked.seed(rows, atMs);
  return asked;
};

test('a name is known for a day after it was last asked about', () => {
  const asked = new AskedNames();
  assert.equal(asked.askedAtMs('can_read', nowMs), undefined);
  asked.note(['can_read'], nowMs - MINUTE_MS);
  asked.note(['can_read', '__proto__'], nowMs + 1);
  assert.deepEqual([asked.askedAtMs('can_read', nowMs), asked.askedAtMs('can_edit', nowMs)], [nowMs, undefined]);
  assert.equal(asked.askedAtMs('can_read', nowMs + DAY_MS), nowMs);
  assert.equal(asked.askedAtMs('can_read', nowMs + DAY_MS + MINUTE_MS), undefined);
  assert.deepEqual(asked.rows(nowMs + DAY_MS + MINUTE_MS), []);
  assert.equal(seeded(asked.rows(nowMs)).askedAtMs('__proto__', nowMs), nowMs);
});

test('however many names are reported, the last ones are kept, in memory and in rows of bounded number and length', () => {
  const asked = new AskedNames();
  for (let index = 0; index < NAMES_MAX + 100; index += 1) asked.note([`n${index}`], nowMs);
  const { bytes } = asked;
  for (let index = 0; index < 100_000; index += 1) {
    asked.note([`n${index}`], nowMs);
    assert.ok(asked.bytes <= bytes);
  }
  for (let index = 0; index < NAMES_MAX; index += 1) asked.note([nameOf(index)], nowMs);
  const rows = asked.rows(nowMs);
  assert.ok(rows.every(({ counts }) => Buffer.byteLength(counts) <= 8192));
  assert.ok(rows.every(({ place }) => place >= ASKED_PLACES.from && place <= ASKED_PLACES.to));
  const next = seeded(rows);
  const times = Array.from({ length: NAMES_MAX }, (_, index) => next.askedAtMs(nameOf(index), nowMs));
  assert.deepEqual(new Set(times), new Set([nowMs]));
  const more = Array.from({ length: 1000 }, (_, index) => [`m${index}`, nowMs / MINUTE_MS]);
  next.seed([{ place: ASKED_PLACES.from, counts: JSON.stringify(Object.fromEntries(more)) }], nowMs);
  assert.equal(next.bytes, bytes);
});

test('of two times of a name the later one holds, and a row that is damaged says nothing', () => {
  const minute = nowMs / MINUTE_MS;
  const counts = (minutes: Record<string, unknown>): string => JSON.stringify(minutes);
  const asked = seeded([
    { place: 901, counts: counts({ a: minute - 5, b: minute - 1 }) },
    { place: 900, counts: counts({ a: minute - 2, b: minute - 9, c: minute + 1, d: 'x', e: 1.5, f: minute - 1441 }) },
    ...['', '{', '[1]', 'null', '7', '{"g":null}'].map((text) => ({ place: 902, counts: text })),
  ]);
  const ages = [...'abcdefg'].map((name) => {
    const atMs = asked.askedAtMs(name, nowMs);
    return atMs === undefined ? undefined : minute - atMs / MINUTE_MS;
  });
  assert.deepEqual(ages, [2, 1, undefined, undefined, undefined, undefined, undefined]);
});
