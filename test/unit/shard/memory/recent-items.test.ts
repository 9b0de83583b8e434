// What is kept for followers of a tenant, for its change feed and for its readers alike: whole entries within the
// bound, or none.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FairTurns } from '../../../../src/core/async/turns.ts';
import { decodeCommit } from '../../../../src/shard/log/entries.ts';
import type { Change } from '../../../../src/shard/log-changes.ts';
import { MemoryBudget } from '../../../../src/shard/memory/memory-budget.ts';
import { RecentChanges, RecentCommits } from '../../../../src/shard/memory/recent-items.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';
import { ids, tuple } from '../tools.ts';

const MIB = 1024 * 1024;
const LAST_SEQ = 10;
const tenantId = ids.create('ten');
const clock = new VirtualClock();

const granted = (object: string): Change => ({
  kind: 'grant-created',
  newSubject: false,
  grant: { ...tuple('user:a', object), grantId: ids.create('grt'), createdAtMs: 1 },
});

/** One way to follow a tenant. */
interface Followed {
  readonly recent: RecentChanges | RecentCommits;
  readonly commit: (seq: number, ...changes: readonly Change[]) => void;
  /** The objects granted after an entry, in order; undefined: some of them are gone. */
  readonly after: (seq: number) => readonly string[] | undefined;
}

function changes(budget: MemoryBudget): Followed {
  const recent = new RecentChanges(budget, clock, LAST_SEQ);
  return {
    recent,
    commit: (seq, ...made) => {
      const origin = { tenantId, actor: 'key_1', requestId: `req_${seq}`, atMs: seq };
      recent.commit(made, origin, { seq, index: 0, timeMs: seq });
    },
    after: (seq) => {
      recent.asked();
      const place = { seq: seq + 1, index: -1 };
      if (!recent.covers(place)) return undefined;
      return [...recent.after(place)].map(({ row }) => String(JSON.parse(row.change).object));
    },
  };
}

function commits(budget: MemoryBudget): Followed {
  const recent = new RecentCommits(budget, clock, LAST_SEQ);
  return {
    recent,
    commit: (seq, ...made) => recent.commit(made, seq),
    after: (seq) => {
      const lines: string[] = [];
      for (let part = recent.after(seq); ; part = recent.after(part.lastSeq)) {
        if (part === undefined) return undefined;
        if (part.lines !== '') lines.push(...part.lines.split('\n'));
        if (!part.more) break;
      }
      const made = lines.flatMap((line) => decodeCommit(line).changes);
      return made.map((change) => ('grant' in change ? change.grant.object : change.kind));
    },
  };
}

for (const [name, follow] of Object.entries({ changes, commits })) {
  describe(`recent ${name}`, () => {
    const create = (bytesMax = 100 * MIB): Followed & { readonly budget: MemoryBudget } => {
      const budget = new MemoryBudget(bytesMax, new FairTurns(clock));
      return { budget, ...follow(budget) };
    };

    test('everything after an entry is there, in order', () => {
      const { commit, after, recent } = create();
      commit(11, granted('doc:1'), granted('doc:2'));
      commit(14, granted('doc:3'));
      assert.deepEqual([10, 11, 13, 14].map(after), [['doc:1', 'doc:2', 'doc:3'], ['doc:3'], ['doc:3'], []]);
      assert.equal(after(9), undefined);
      assert.equal(recent.size, name === 'changes' ? 3 : 2);
    });

    test('beyond the bound the oldest entries are dropped as a whole', () => {
      const { budget, recent, commit, after } = create();
      const before = budget.bytes;
      const last = 9000;
      for (let seq = 11; seq <= last; seq += 1) commit(seq, granted(`doc:${seq}`), granted(`doc:${seq}-b`));
      const { afterSeq } = recent;
      assert.ok(afterSeq > LAST_SEQ && afterSeq < last - 1000);
      const kept = after(afterSeq);
      assert.deepEqual([kept?.[0], kept?.at(-1)], [`doc:${afterSeq + 1}`, `doc:${last}-b`]);
      assert.deepEqual([kept?.length, after(afterSeq - 1)], [2 * (last - afterSeq), undefined]);
      assert.ok(budget.bytes - before <= 2 * MIB);
      commit(last + 1, { kind: 'namespace-created', name: 'x'.repeat(MIB), createdAtMs: 1 });
      assert.deepEqual([recent.size, after(last), after(last + 1)], [0, undefined, []]);
      assert.equal(budget.bytes, before);
      recent.drop();
      assert.equal(budget.bytes, 0);
    });

    test('the budget evicts all at once, and they are kept again from the next question on', () => {
      const { budget, recent, commit, after } = create(2000);
      commit(11, granted('doc:1'));
      budget.hold(10 * MIB);
      budget.hold(-10 * MIB);
      assert.deepEqual([recent.size, recent.afterSeq, budget.bytes], [0, 11, 0]);
      commit(12, granted('doc:2'));
      assert.equal(recent.size, 0, 'no follower has asked since');
      assert.deepEqual([after(11), after(12)], [undefined, []]);
      commit(13, granted('doc:3'));
      assert.deepEqual(after(12), ['doc:3']);
    });

    test('what was dropped takes no bytes, whoever asks', () => {
      const { budget, recent, commit, after } = create();
      recent.drop();
      commit(11, granted('doc:1'));
      assert.deepEqual([after(10), recent.size, budget.bytes], [undefined, 0, 0]);
    });

    test('the tenant counts as followed for a minute after a question', () => {
      const { recent } = create();
      assert.equal(recent.followed, true);
      clock.stall(59_000);
      assert.equal(recent.followed, true);
      recent.asked();
      clock.stall(59_000);
      assert.equal(recent.followed, true);
      clock.stall(2000);
      assert.equal(recent.followed, false);
    });
  });
}
