// Write-behind: when what was committed is written, and who need not wait for that.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseTenantId } from '../../../../src/core/ids.ts';
import { withNextRules } from '../../../../src/core/tenants.ts';
import { Applier } from '../../../../src/shard/log/applier.ts';
import { IdempotencyWindow } from '../../../../src/shard/log/idempotency/window.ts';
import type { CommittedEntry } from '../../../../src/shard/log/write-queue.ts';
import type { Change } from '../../../../src/shard/log-changes.ts';
import { WriteMemory } from '../../../../src/shard/memory/write-memory.ts';
import type { StateStore } from '../../../../src/store/store.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';

const TENANT = parseTenantId('ten_01jd0000000000000000000000');

const KEPT_MS = 20_000;

class Bench {
  readonly clock = new VirtualClock();
  readonly writes = new WriteMemory(100_000_000, () => {});
  readonly calls: { atMs: number; rows: number }[] = [];
  readonly checkpoints: { atMs: number; seq: number; stamp: number; windowFrom: number | undefined }[] = [];
  readonly applier: Applier;
  /** Checkpoints fail. */
  failing = false;
  /** Further ones fail. */
  stateCallsLeft = Number.POSITIVE_INFINITY;
  readonly #window: IdempotencyWindow;
  #seq = 0;

  constructor() {
    const startMs = this.clock.monotonicMs();
    const store: Partial<StateStore> = {
      writeState: async (writes) => {
        if (this.stateCallsLeft === 0) throw new Error('The store is down.');
        this.stateCallsLeft -= 1;
        this.calls.push({ atMs: this.clock.monotonicMs() - startMs, rows: writes.length });
      },
      writeCheckpoint: async (_, { seq, stamp, windowFrom }) => {
        if (this.failing) throw new Error('The store is down.');
        this.checkpoints.push({ atMs: this.clock.monotonicMs() - startMs, seq, stamp, windowFrom });
      },
    };
    this.#window = new IdempotencyWindow(this.clock, KEPT_MS, 1);
    const ports = {
      store: store as StateStore,
      clock: this.clock,
      window: this.#window,
      backlog: this.writes.hold('backlog'),
      confirm: () => {},
      wrote: () => {},
      failed: (error: unknown) => assert.ok(this.failing || this.stateCallsLeft === 0, String(error)),
    };
    this.applier = new Applier(ports, 1, { seq: 0, stamp: 0, windowFrom: 1 });
  }

  /** An entry of one operation that creates `changes` namespaces: one row each, and one in the audit log. */
  add(changes: number): void {
    assert.ok(TENANT !== undefined);
    this.#seq += 1;
    const base = this.#seq * 10_000;
    const names = Array.from({ length: changes }, (_, index) => `n${index}`);
    this.#addChanges(
      base,
      names.map((name) => ({ kind: 'namespace-created', name, createdAtMs: 1 })),
    );
  }

  /** An entry that sets rules of that length: two rows, and one of the audit log. */
  addRules(length: number): void {
    assert.ok(TENANT !== undefined);
    this.#seq += 1;
    const rules = JSON.stringify({ rules: 'x'.repeat(length) });
    const plain = { tenantId: TENANT, name: 'T', plan: 'free', state: 'active', createdAtMs: 1 } as const;
    const tenant = withNextRules({ ...plain, rulesVersion: this.#seq }, undefined);
    const change = { kind: 'rules-updated', tenant, rules, former: rules, added: 0, removed: 0 } as const;
    this.#addChanges(this.#seq * 10_000, [change]);
  }

  #addChanges(base: number, changes: readonly Change[]): void {
    assert.ok(TENANT !== undefined);
    const entry: CommittedEntry = {
      seq: this.#seq,
      base,
      elapsedMs: 0,
      operations: [
        {
          tenantId: TENANT,
          actor: 'operator:test',
          requestId: `req_${this.#seq}`,
          index: 0,
          atMs: 1,
          changes,
        },
      ],
    };
    this.#window.add(entry.seq);
    this.applier.add(entry);
  }

  get written(): number {
    return this.calls.reduce((sum, { rows }) => sum + rows, 0);
  }
}

describe('write-behind', () => {
  it('writes only a few long rows in one call', async () => {
    const bench = new Bench();
    for (let index = 0; index < 100; index += 1) bench.addRules(64 * 1024);
    await bench.clock.advance(1000);
    assert.equal(bench.written, 300);
    // 16 MiB of memory at most, at four bytes for each character of both texts.
    assert.ok(Math.max(...bench.calls.map(({ rows }) => rows)) <= 3 * 32, JSON.stringify(bench.calls));
    assert.ok(bench.calls.length >= 4);
  });

  it('batches the entries of half a second, and then those of the next', async () => {
    const bench = new Bench();
    for (let each = 0; each < 8; each += 1) {
      bench.add(1);
      await bench.clock.advance(125);
    }
    await bench.clock.advance(500);
    assert.deepEqual(
      bench.calls.map(({ atMs }) => atMs),
      [500, 1000],
    );
    assert.equal(bench.applier.appliedSeq, 8);
  });

  it('writes immediately while a caller waits, also entries that arrive in the meantime', async () => {
    const bench = new Bench();
    bench.add(1);
    await bench.clock.advance(10);
    assert.equal(bench.calls.length, 0);
    const applied = bench.applier.applied(1);
    await bench.clock.advance(0);
    await applied;
    assert.deepEqual(bench.calls, [{ atMs: 10, rows: bench.written }]);
    bench.add(1);
    const flushed = bench.applier.flush();
    await bench.clock.advance(0);
    await flushed;
    assert.equal(bench.applier.checkpointSeq, 2);
  });

  it('writes immediately when a call is full', async () => {
    const bench = new Bench();
    for (let each = 0; each < 5; each += 1) bench.add(500);
    await bench.clock.advance(0);
    assert.equal(bench.calls[0]?.atMs, 0);
    assert.equal(bench.applier.appliedSeq, 4);
    await bench.clock.advance(500);
    assert.equal(bench.applier.appliedSeq, 5);
    assert.equal(bench.calls[1]?.atMs, 500);
  });

  it('stores the start of the idempotency window with each checkpoint, and again when the window is empty', async () => {
    const bench = new Bench();
    for (let second = 0; second < 40; second += 1) {
      bench.add(1);
      await bench.clock.advance(1000);
    }
    for (const { atMs, seq, windowFrom = 0 } of bench.checkpoints) {
      // The entry of second n has the seq n + 1.
      const oldest = Math.max(1, Math.floor((atMs - KEPT_MS) / 1000) + 2);
      assert.ok(windowFrom <= oldest && windowFrom >= oldest - 3, `${windowFrom} at ${atMs} ms, seq ${seq}`);
    }
    await bench.clock.advance(2000);
    const atRest = bench.checkpoints.length;
    const before = bench.checkpoints.at(-1);
    assert.ok(before?.seq === 40 && (before.windowFrom ?? 0) <= 24);
    bench.failing = true;
    await bench.clock.advance(KEPT_MS);
    assert.equal(bench.checkpoints.length, atRest);
    assert.equal(bench.applier.windowFrom, before.windowFrom, 'not confirmed yet');
    bench.failing = false;
    await bench.clock.advance(10 * KEPT_MS);
    assert.deepEqual(
      bench.checkpoints.slice(atRest).map(({ seq, stamp, windowFrom }) => [seq, stamp, windowFrom]),
      [[40, before.stamp, 41]],
    );
    assert.equal(bench.applier.windowFrom, 41);
    assert.equal(bench.clock.timers, 0);
  });

  it('never stores a start of the window after the checkpoint, however long that lags', async () => {
    const bench = new Bench();
    bench.stateCallsLeft = 0;
    for (let each = 0; each < 3; each += 1) bench.add(2000);
    await bench.clock.advance(2 * KEPT_MS);
    bench.stateCallsLeft = 1;
    await bench.clock.advance(2 * KEPT_MS);
    bench.applier.close();
    assert.deepEqual(
      bench.checkpoints.map(({ seq, windowFrom }) => [seq, windowFrom]),
      [[1, 2]],
    );
  });

  it('writes nothing once closed, and leaves no timer', async () => {
    const bench = new Bench();
    bench.add(1);
    await bench.clock.advance(10);
    bench.applier.close();
    await bench.clock.advance(5000);
    assert.deepEqual(bench.calls, []);
    assert.equal(bench.clock.timers, 0);
    const written = new Bench();
    written.add(1);
    await written.clock.advance(3000);
    assert.deepEqual([written.checkpoints.length, written.clock.timers], [1, 1], 'that of the window');
    written.applier.close();
    assert.equal(written.clock.timers, 0);
  });
});
