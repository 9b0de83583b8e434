// The faulty store of the tests does what its faults say, and still keeps every deadline.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GrantdError } from '../../../src/core/errors.ts';
import { systemClock } from '../../../src/roles/process/system.ts';
import { delayedStore, type Fault, WRITE_BEHIND } from '../../kit/store/faulty-store.ts';
import { MemoryStore } from '../../kit/store/memory-store.ts';
import { createGrantWrite, createRecord, META, newTenantId, soon } from '../../kit/store/store-fixtures.ts';

const isUnavailable = (error: unknown) => error instanceof GrantdError && error.code === 'unavailable';

async function createFaulty(fault?: Fault) {
  const inner = new MemoryStore({ clock: systemClock });
  await inner.initializeMeta(META, soon());
  const faultOf = (operation: string, call: number) => (operation === 'append' && call === 1 ? fault : undefined);
  return { inner, ...delayedStore(inner, systemClock, { fault: faultOf }) };
}

describe('faulty store', () => {
  it('fails before a call is applied', async () => {
    const { inner, store, faults } = await createFaulty({ kind: 'fail-before' });
    await assert.rejects(store.append(createRecord(1, 1), soon()), isUnavailable);
    assert.equal(await inner.readRecord(1, 1, soon()), undefined);
    assert.deepEqual(await store.append(createRecord(1, 1), soon()), { kind: 'appended' });
    assert.equal(faults.calls('append'), 2);
  });

  it('fails after a call was applied', async () => {
    const { inner, store } = await createFaulty({ kind: 'fail-after' });
    const record = createRecord(1, 1);
    await assert.rejects(store.append(record, soon()), isUnavailable);
    assert.deepEqual(await inner.readRecord(1, 1, soon()), record);
  });

  it('applies a call long after it failed', async () => {
    let release = () => {};
    const until = () => new Promise<void>((resolve) => (release = resolve));
    const { inner, store } = await createFaulty({ kind: 'apply-late', until });
    await assert.rejects(store.append(createRecord(1, 1), soon()), isUnavailable);
    assert.equal(await inner.readRecord(1, 1, soon()), undefined);
    release();
    while ((await inner.readRecord(1, 1, soon())) === undefined);
  });

  it('ends a call at its deadline whose answer is late', async () => {
    const { inner, store } = await createFaulty({ kind: 'delay-reply', until: () => new Promise(() => {}) });
    await assert.rejects(store.append(createRecord(1, 1), systemClock.monotonicMs() + 20), isUnavailable);
    assert.equal((await inner.readRecord(1, 1, soon()))?.seq, 1);
  });

  it('holds the write-behind until it is restored', async () => {
    const { inner, store, faults } = await createFaulty();
    const write = createGrantWrite(newTenantId());
    const read = () => inner.readGrant(write.tenantId, write.subject, write.relation, write.object, soon());
    faults.turn('hold', WRITE_BEHIND);
    const writing = store.writeState([write], soon());
    await assert.rejects(
      store.writeCheckpoint(1, { seq: 1, stamp: 1, windowFrom: 1 }, systemClock.monotonicMs() + 20),
      isUnavailable,
    );
    assert.equal(faults.heldCalls(), 2);
    assert.equal(await read(), undefined);
    faults.restore(WRITE_BEHIND);
    await writing;
    assert.equal((await read())?.grantId, write.grantId);
  });

  it('fails the write-behind for as long as it is switched so', async () => {
    const { store, faults } = await createFaulty();
    faults.turn('fail-before', WRITE_BEHIND);
    const write = () => store.writeState([createGrantWrite(newTenantId())], soon());
    await assert.rejects(write(), isUnavailable);
    await assert.rejects(write(), isUnavailable);
    faults.restore(WRITE_BEHIND);
    await write();
  });
});
