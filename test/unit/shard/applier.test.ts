// Write-behind: when what was committed is written, and who need not wait for that.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseTenantId } from '../../../src/core/ids.ts';
import type { CommittedEntry } from '../../../src/shard/appender.ts';
import { Applier } from '../../../src/shard/applier.ts';
import type { StateStore } from '../../../src/store/store.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const TENANT = parseTenantId('ten_01jd0000000000000000000000');

class Bench {
  readonly clock = new VirtualClock();
  readonly calls: { atMs: number; rows: number }[] = [];
  readonly applier: Applier;
  #seq = 0;

  constructor() {
    const startMs = this.clock.monotonicMs();
    const store: Partial<StateStore> = {
      writeState: async (writes) => {
        this.calls.push({ atMs: this.clock.monotonicMs() - startMs, rows: writes.length });
      },
      writeCheckpoint: async () => {},
    };
    const ports = {
      store: store as StateStore,
      clock: this.clock,
      confirm: () => {},
      failed: (error: unknown) => assert.fail(String(error)),
    };
    this.applier = new Applier(ports, 1, { seq: 0, stamp: 0, countedFrom: 1 });
  }

  /** An entry of one operation that makes so many namespaces: of a row each, and one of the trail. */
  add(changes: number): void {
    assert.ok(TENANT !== undefined);
    this.#seq += 1;
    const base = this.#seq * 10_000;
    const names = Array.from({ length: changes }, (_, index) => `n${index}`);
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
          changes: names.map((name) => ({ kind: 'namespace-created', name, createdAtMs: 1 })),
        },
      ],
    };
    this.applier.add(entry);
  }

  get written(): number {
    return this.calls.reduce((sum, { rows }) => sum + rows, 0);
  }
}

describe('write-behind', () => {
  it('gathers the entries of half a second, and again of the next', async () => {
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

  it('writes at once for whoever waits for it, also those that come while one waits', async () => {
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

  it('writes at once when a call is full', async () => {
    const bench = new Bench();
    for (let each = 0; each < 5; each += 1) bench.add(500);
    await bench.clock.advance(0);
    assert.equal(bench.calls[0]?.atMs, 0);
    assert.equal(bench.applier.appliedSeq, 4);
    await bench.clock.advance(500);
    assert.equal(bench.applier.appliedSeq, 5);
    assert.equal(bench.calls[1]?.atMs, 500);
  });

  it('writes nothing once closed, and leaves no timer', async () => {
    const bench = new Bench();
    bench.add(1);
    await bench.clock.advance(10);
    bench.applier.close();
    await bench.clock.advance(5000);
    assert.deepEqual(bench.calls, []);
    assert.equal(bench.clock.timers, 0);
  });
});
