// The SQLite store in trouble: a full disk, more work than it takes, a thread that dies. It says so, and goes on by
// itself once it can.

import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import { GrantdError } from '../../../src/core/errors.ts';
import { systemClock } from '../../../src/roles/process/system.ts';
import type { WriteCalls } from '../../../src/store/sqlite/messages.ts';
import { WorkerClient } from '../../../src/store/sqlite/worker-client.ts';
import type { Store } from '../../../src/store/store.ts';
import { createRecordingLog, createTemporaryDirectory, openStore } from '../../kit/store/store-directory.ts';
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
  const temporary = createTemporaryDirectory();
  after(() => temporary.remove());

  it('fails writes on a full disk, says why once, goes on reading, and recovers when there is space', async () => {
    const log = createRecordingLog();
    const store = await openStore(`${temporary.path}/full`, { pagesMax: 200, log });
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
    const store = await openStore(`${temporary.path}/overload`);
    await store.initializeMeta(META, soon());
    const outcomes = await Promise.allSettled(Array.from({ length: 10_000 }, () => store.readSlot(1, soon())));
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    assert.equal(refused.length, 10_000 - 8192);
    for (const outcome of refused) assert.ok(hasCode('overloaded')(outcome.reason));
    assert.equal(await store.readSlot(1, soon()), undefined);
    await store.close();
  });

  it('bounds the text in flight, and takes one large batch when it is alone', async () => {
    const store = await openStore(`${temporary.path}/weight`);
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
    const directory = `${temporary.path}/stream`;
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
    const directory = `${temporary.path}/thread`;
    await (await openStore(directory)).close();
    const worker = new WorkerClient<WriteCalls>(
      { clock: systemClock, log },
      { mode: 'writer', directory, slots: META.slots, startedAtMs: 0, pagesMax: undefined },
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
});
