// The SQLite store in trouble: a full disk, more work than it takes, a thread that dies. It says so, and goes on by
// itself once it can.

import assert from 'node:assert/strict';
import { closeSync, copyFileSync, openSync, renameSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { GrantdError } from '../../../src/core/errors.ts';
import { systemClock } from '../../../src/roles/process/system.ts';
import type { WriteCalls } from '../../../src/store/sqlite/messages.ts';
import { Damage } from '../../../src/store/sqlite/sqlite-errors.ts';
import { WorkerClient } from '../../../src/store/sqlite/worker-client.ts';
import type { Store } from '../../../src/store/store.ts';
import { useDirectory } from '../../kit/directory.ts';
import { createRecordingLog, openStore } from '../../kit/store/store-directory.ts';
import { createGrantWrite, createRecord, META, newTenantId, soon } from '../../kit/store/store-fixtures.ts';
import { waitFor } from '../../kit/wait-for.ts';

const hasCode = (code: string) => (error: unknown) => error instanceof GrantdError && error.code === code;

/** Appends until one fails; returns the seq that failed. */
async function fill(store: Store, slot: number): Promise<number> {
  for (let seq = 1; seq < 10_000; seq += 1) {
    try {
      await store.append(createRecord(slot, seq, { body: 'x'.repeat(20_000) }), soon());
    } catch (error) {
      assert.ok(hasCode('unavailable')(error));
      return seq;
    }
  }
  throw new Error('The disk does not get full.');
}

describe('sqlite store in trouble', () => {
  const temporary = useDirectory();

  it('fails writes on a full disk, says why once, goes on reading, and recovers when there is space', async () => {
    const log = createRecordingLog();
    const store = await openStore(`${temporary}/full`, { pagesMax: 200, log });
    await store.initializeMeta(META, soon());
    const tenantId = newTenantId();
    const failed = await fill(store, 1);
    assert.ok(failed > META.segmentSize);
    const writes = Array.from({ length: 500 }, (_, index) => createGrantWrite(tenantId, { object: `doc:${index}` }));
    await assert.rejects(store.writeState(writes, soon()), hasCode('unavailable'));
    await assert.rejects(store.append(createRecord(1, failed, { body: 'x'.repeat(20_000) }), soon()));
    assert.equal(await store.readRecord(1, failed, soon()), undefined, 'what failed is not there');
    assert.equal((await store.readRecord(1, failed - 1, soon()))?.seq, failed - 1);
    const lines = log.lines.filter((line) => line.includes('the disk is full'));
    assert.equal(lines.length, 1, log.lines.join('\n'));
    assert.match(lines[0] ?? '', /^error: the store is failing: the disk is full/);

    await store.removeSegment(1, 0, soon());
    const retried = createRecord(1, failed, { body: 'x'.repeat(20_000) });
    assert.deepEqual(await store.append(retried, soon()), { kind: 'appended' });
    assert.ok(log.lines.some((line) => line.startsWith('info: the store has recovered')));
    await store.close();
  });

  it('refuses calls beyond its bound as overloaded, and carries out those within it', async () => {
    const store = await openStore(`${temporary}/overload`);
    await store.initializeMeta(META, soon());
    const outcomes = await Promise.allSettled(Array.from({ length: 10_000 }, () => store.readSlot(1, soon())));
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    assert.equal(refused.length, 10_000 - 8192);
    for (const outcome of refused) assert.ok(hasCode('overloaded')(outcome.reason));
    assert.equal(await store.readSlot(1, soon()), undefined);
    await store.close();
  });

  it('bounds the text in flight, and takes one large batch when it is alone', async () => {
    const store = await openStore(`${temporary}/weight`);
    await store.initializeMeta(META, soon());
    const body = 'x'.repeat(1024 * 1024);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 140 }, (_, slot) => store.append(createRecord(slot, 1, { body }), soon())),
    );
    assert.equal(outcomes.filter((outcome) => outcome.status === 'fulfilled').length, 128);
    assert.deepEqual(await store.append(createRecord(139, 1, { body }), soon()), { kind: 'appended' });
    await store.close();
  });

  it('bounds the write-ahead log under a stream of writes', async () => {
    const directory = `${temporary}/stream`;
    const store = await openStore(directory);
    await store.initializeMeta(META, soon());
    const tenantId = newTenantId();
    for (let batch = 0; batch < 25; batch += 1) {
      // Subjects far apart, so that every row lies on a page of its own.
      const writes = Array.from({ length: 1000 }, (_, row) =>
        createGrantWrite(tenantId, { subject: `user:${(row * 7919 + batch * 104_729) % 1_000_003}`, stamp: batch + 1 }),
      );
      await store.writeState(writes, soon());
    }
    assert.ok(statSync(`${directory}/grantd.db-wal`).size < 64 * 1024 * 1024);
    await store.close();
  });

  it('starts a thread again that died, and fails what was in flight as unavailable', async () => {
    const log = createRecordingLog();
    const directory = `${temporary}/thread`;
    await (await openStore(directory)).close();
    const worker = new WorkerClient<WriteCalls>(
      { clock: systemClock, log },
      {
        ...({ mode: 'writer', directory, slots: META.slots, startedAtMs: 0, pagesMax: undefined } as const),
        ...{ damage: new Damage().memory, acceptLoss: false },
      },
    );
    await worker.start();
    // No caller of the store can send this: arguments that the thread cannot take apart.
    const broken = worker.call('purgeTenant', {} as never, soon());
    const alongside = worker.call('removeMember', ['inc_1'], soon());
    await assert.rejects(broken, hasCode('unavailable'));
    await assert.rejects(alongside, hasCode('unavailable'));
    assert.ok(log.lines.some((line) => line.includes('SQLite worker thread exited; restarting it')));
    await assert.rejects(worker.call('removeMember', ['inc_1'], soon()), hasCode('unavailable'));
    const isBack = (): Promise<boolean> =>
      worker.call('removeMember', ['inc_1'], soon()).then(
        () => true,
        () => false,
      );
    await waitFor('the thread to be started again', isBack);
    await worker.close();
  });

  const FAULTS: readonly (readonly [string, (directory: string) => void, RegExp])[] = [
    [
      'the write-ahead log is cut to nothing',
      (at) => truncateSync(`${at}/grantd.db-wal`, 0),
      /overwritten or cut short/,
    ],
    ['the database is removed', (at) => rmSync(`${at}/grantd.db`), /removed or replaced/],
    ['the write-ahead log is removed', (at) => rmSync(`${at}/grantd.db-wal`), /removed or replaced/],
    ['the index of the write-ahead log is removed', (at) => rmSync(`${at}/grantd.db-shm`), /removed or replaced/],
    ['the ends are removed', (at) => rmSync(`${at}/grantd.log-ends`), /removed or replaced/],
    ['the folder is moved away', (at) => renameSync(at, `${at}.moved`), /removed or replaced/],
    [
      'the database is replaced by a copy',
      (at) => {
        copyFileSync(`${at}/grantd.db`, `${at}/copy`);
        renameSync(`${at}/copy`, `${at}/grantd.db`);
      },
      /removed or replaced/,
    ],
  ];

  for (const [what, spoil, reason] of FAULTS) {
    it(`confirms nothing more once ${what}, and says so`, async () => {
      const log = createRecordingLog();
      const directory = `${temporary}/spoiled`;
      rmSync(directory, { recursive: true, force: true });
      const store = await openStore(directory, { log });
      await store.initializeMeta(META, soon());
      await store.append(createRecord(1, 1), soon());
      spoil(directory);
      await assert.rejects(store.append(createRecord(1, 2), soon()), hasCode('unavailable'));
      await assert.rejects(store.append(createRecord(2, 1), soon()), hasCode('unavailable'));
      await assert.rejects(store.writeState([createGrantWrite(newTenantId())], soon()), hasCode('unavailable'));
      // An owner would take what it finds there for done.
      await assert.rejects(store.readRecord(1, 2, soon()), hasCode('unavailable'));
      assert.match(store.damage.reason ?? '', reason);
      await waitFor('a line that names the directory and what to do', async () =>
        log.lines.some((line) => line.startsWith(`error: The data directory ${directory} is damaged: `)),
      );
      await store.close();
    });
  }

  it('notices removed files while nothing is asked', async () => {
    const directory = `${temporary}/idle`;
    const store = await openStore(directory);
    rmSync(`${directory}/grantd.db`);
    await waitFor('the damage to be known', async () => store.damage.reason !== undefined);
    await store.close();
  });

  it('confirms nothing more once a reader has met damage', async () => {
    const directory = `${temporary}/rotten`;
    const store = await openStore(directory);
    await store.initializeMeta(META, soon());
    for (let slot = 0; slot < 40; slot += 1) {
      await store.append(createRecord(slot, 1, { body: 'x'.repeat(20_000) }), soon());
    }
    const other = new DatabaseSync(`${directory}/grantd.db`);
    other.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    other.close();
    const size = statSync(`${directory}/grantd.db`).size;
    const file = openSync(`${directory}/grantd.db`, 'r+');
    writeSync(file, Buffer.alloc(size - 4096, 0xff), 0, size - 4096, 4096);
    closeSync(file);
    await assert.rejects(async () => {
      for (let slot = 0; slot < 40; slot += 1) await store.readRecord(slot, 1, soon());
    }, hasCode('unavailable'));
    assert.equal(store.damage.reason, 'the database is damaged');
    await assert.rejects(store.append(createRecord(1, 2), soon()), hasCode('unavailable'));
    await store.close();
  });
});
