// The recent changes of a tenant: those of the feed; each waiting reader is called back once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairTurns } from '../../../../src/core/async/turns.ts';
import type { Change } from '../../../../src/shard/log-changes.ts';
import { MemoryBudget } from '../../../../src/shard/memory/memory-budget.ts';
import { contentOf, RecentChanges } from '../../../../src/shard/memory/recent-items.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';
import { ids, tuple } from '../tools.ts';

const tenantId = ids.create('ten');
const clock = new VirtualClock();

function create() {
  const budget = new MemoryBudget(1024 * 1024, new FairTurns(clock));
  const recent = new RecentChanges(budget, clock, 10);
  const commit = (seq: number, ...changes: readonly Change[]): void => {
    const origin = { tenantId, actor: 'key_1', requestId: `req_${seq}`, atMs: seq };
    recent.commit(changes, origin, { seq, index: 0, timeMs: seq });
  };
  const after = (seq: number, index = -1): readonly string[] =>
    [...recent.after({ seq, index })].map(({ row }) => `${row.seq}.${row.index}`);
  return { recent, commit, after };
}

const granted = (object: string): Change => ({
  kind: 'grant-created',
  newSubject: false,
  grant: { ...tuple('user:a', object), grantId: ids.create('grt'), createdAtMs: 1 },
});

const key: Change = {
  kind: 'key-created',
  key: { keyId: ids.create('key'), name: 'ci', scopes: 1, createdAtMs: 1, expiresAtMs: undefined, hash: 'x' },
};

test('every change after a position is there, without those that the feed omits', () => {
  const { recent, commit, after } = create();
  commit(11, granted('doc:1'), key, granted('doc:2'));
  commit(12, key);
  commit(14, granted('doc:3'));
  assert.deepEqual(after(11), ['11.0', '11.2', '14.0']);
  assert.deepEqual(after(11, 0), ['11.2', '14.0']);
  assert.deepEqual(after(11, 1), ['11.2', '14.0']);
  assert.deepEqual(after(12), ['14.0']);
  assert.deepEqual(after(14, 0), []);
  assert.equal(recent.covers({ seq: 11, index: -1 }), true);
  assert.equal(recent.covers({ seq: 10, index: 4 }), false, 'the rest of an earlier entry');
  const [first] = recent.after({ seq: 11, index: -1 });
  const content = first && contentOf(first);
  assert.ok(content?.action === 'grant.created' && content.grant.object === 'doc:1');
});

test('every commit of the tenant calls each waiting reader back once, and so does the end', () => {
  const { recent, commit } = create();
  const called: string[] = [];
  recent.wait(() => called.push('a'));
  const forgotten = (): void => assert.fail('it was forgotten');
  recent.wait(forgotten);
  recent.forget(forgotten);
  commit(11, key);
  commit(12, granted('doc:1'));
  assert.deepEqual([called, recent.waiting], [['a'], 0]);
  recent.wait(() => called.push('b'));
  recent.drop();
  recent.wait(() => called.push('c'));
  assert.deepEqual(called, ['a', 'b', 'c']);
});

test('a tenant counts as followed while a call waits', () => {
  const { recent } = create();
  clock.stall(61_000);
  assert.equal(recent.followed, false);
  recent.wait(() => {});
  assert.equal(recent.followed, true);
});
