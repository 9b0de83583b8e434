// What survives: every acknowledged append after a kill, and after a loss of power a prefix in which the checkpoint is
// ahead of neither the state nor the log.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import type { TenantId } from '../../../src/core/ids.ts';
import type { Store } from '../../../src/store/store.ts';
import { useDirectory } from '../../kit/directory.ts';
import { openStore } from '../../kit/store/store-directory.ts';
import {
  createGrantWrite,
  createRecord,
  META,
  newTenantId,
  readAllGrants,
  soon,
} from '../../kit/store/store-fixtures.ts';

const WRITER = new URL('./store-writer-process.ts', import.meta.url).pathname;
const SLOTS = 8;

/**
 * Runs the writer until it has acknowledged `appends` appends, kills it, and returns the last acknowledged seq per
 * slot.
 */
async function writeUntilKilled(path: string, tenantId: TenantId, firstSlot: number, appends: number) {
  const args = [WRITER, path, String(firstSlot), String(SLOTS), tenantId];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const acknowledged = new Map<number, number>();
  let count = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const [slot, seq] = line.split(' ').map(Number);
    if (slot === undefined || seq === undefined) continue;
    acknowledged.set(slot, seq);
    count += 1;
    if (count === appends) child.kill('SIGKILL');
  }
  await exited;
  return acknowledged;
}

async function readLog(store: Store, slot: number): Promise<number[]> {
  const seqs: number[] = [];
  for (;;) {
    const records = await store.readRecords(slot, seqs.length + 1, 1000, soon());
    if (records.length === 0) return seqs;
    seqs.push(...records.map((record) => record.seq));
  }
}

describe('sqlite store after a crash', () => {
  const temporary = useDirectory();

  it('has every acknowledged append after kill -9, and state and checkpoint behind it', async () => {
    const tenantId = newTenantId();
    for (let round = 0; round < 3; round += 1) {
      const firstSlot = 1000 * (round + 1);
      const acknowledged = await writeUntilKilled(temporary, tenantId, firstSlot, 150 + 100 * round);
      const store = await openStore(temporary);
      for (const [slot, seq] of acknowledged) {
        const seqs = await readLog(store, slot);
        assert.deepEqual(
          seqs,
          seqs.map((_, index) => index + 1),
        );
        assert.ok(seqs.length >= seq, `slot ${slot}: ${seq} was acknowledged, ${seqs.length} stand`);
        const checkpoint = (await store.readCheckpoint(slot, soon()))?.seq ?? 0;
        assert.ok(checkpoint <= seqs.length);
        const state = await readAllGrants(store, { tenantId, subject: `slot:${slot}`, limit: 1000 });
        assert.ok(state.grants.length >= checkpoint);
      }
      await store.close();
    }
  });

  it('has a checkpoint ahead of neither state nor log, wherever the write-ahead log was cut', async () => {
    const path = join(temporary, 'cut');
    const store = await openStore(path);
    await store.initializeMeta(META, soon());
    const tenantId = newTenantId();
    const entries = 60;
    for (let seq = 1; seq <= entries; seq += 1) {
      await store.append(createRecord(1, seq), soon());
      await store.writeState([createGrantWrite(tenantId, { object: `doc:${seq}`, stamp: seq })], soon());
      await store.writeCheckpoint(1, { seq, stamp: seq, windowFrom: 1 }, soon());
    }
    const wal = statSync(join(path, 'grantd.db-wal')).size;
    const copies = join(path, 'copies');
    mkdirSync(copies);
    const seen = new Set<number>();
    for (let cut = 0; cut <= 40; cut += 1) {
      const copy = join(copies, `${cut}.db`);
      copyFileSync(join(path, 'grantd.db'), copy);
      copyFileSync(join(path, 'grantd.db-wal'), `${copy}-wal`);
      truncateSync(`${copy}-wal`, Math.floor((wal * cut) / 40));
      const database = new DatabaseSync(copy);
      const tables = database.prepare("SELECT count(*) AS tables FROM sqlite_schema WHERE name = 'log'").get();
      if (tables?.tables === 1) {
        const count = (sql: string) => Number(Object.values(database.prepare(sql).get() ?? {})[0] ?? 0);
        const checkpoint = count('SELECT max(seq) FROM checkpoints');
        const state = count('SELECT count(*) FROM grants');
        const log = count('SELECT max(seq) FROM log');
        assert.ok(checkpoint <= state && state <= log, `${checkpoint} of ${state} of ${log}`);
        seen.add(checkpoint);
      }
      database.close();
    }
    await store.close();
    assert.ok(seen.size > 20 && seen.has(entries), 'the cuts lie in the middle of the writes');
  });
});
