// The store as a whole: what is fixed in meta, deadlines, opening again, closing.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GrantdError } from '../../../src/core/errors.ts';
import { systemClock } from '../../../src/roles/process/system.ts';
import type { Store } from '../../../src/store/store.ts';
import {
  createGrantWrite,
  createMember,
  createRecord,
  META,
  newClusterId,
  newIncarnation,
  newSlot,
  newTenantId,
  soon,
} from '../../kit/store/store-fixtures.ts';
import type { StoreContext } from './store-contract.ts';

const isUnavailable = (error: unknown) => error instanceof GrantdError && error.code === 'unavailable';

/** One call of every kind. */
function callsOf(store: Store, deadline: number): Promise<unknown>[] {
  const tenantId = newTenantId();
  return [
    store.readMeta(deadline),
    store.replaceClusterId(newClusterId(), newClusterId(), deadline),
    store.append(createRecord(newSlot(), 1), deadline),
    store.readRecord(newSlot(), 1, deadline),
    store.readRecords(newSlot(), 1, 1, deadline),
    store.removeSegment(newSlot(), 0, deadline),
    store.readSlot(newSlot(), deadline),
    store.listSlots(deadline),
    store.claimSlot({ slot: newSlot(), expected: undefined, owner: newIncarnation() }, deadline),
    store.insertMember(createMember(), deadline),
    store.listMembers(deadline),
    store.writeState([createGrantWrite(tenantId)], deadline),
    store.writeCheckpoint(newSlot(), { seq: 1, stamp: 1, windowFrom: 1 }, deadline),
    store.listGrants({ tenantId, subject: 'user:ann', limit: 1 }, deadline),
    store.purgeTenant({ slot: 0, tenantId }, 1, deadline),
  ];
}

export function defineLifeContract(context: StoreContext): void {
  describe('meta, deadlines and life', () => {
    it('keeps the meta that was first, and gives it to whoever comes later', async () => {
      const standing = context.meta();
      assert.deepEqual(await context.store().readMeta(soon()), standing);
      const other = {
        ...META,
        clusterId: newClusterId(),
        slots: standing.slots + 1,
        segmentSize: 3,
        cursorSecrets: ['other'],
      };
      assert.deepEqual(await context.store().initializeMeta(other, soon()), standing);
      assert.deepEqual(await context.store().readMeta(soon()), standing);
    });

    it('gives the cluster another id only in place of the one that it has, and keeps all else', async () => {
      const store = context.store();
      const standing = context.meta();
      const [wrong, next] = [newClusterId(), newClusterId()];
      assert.equal(await store.replaceClusterId(wrong, next, soon()), standing.clusterId);
      assert.deepEqual(await store.readMeta(soon()), standing);
      assert.equal(await store.replaceClusterId(standing.clusterId, next, soon()), next);
      assert.deepEqual(await store.readMeta(soon()), { ...standing, clusterId: next });
      assert.equal(await store.replaceClusterId(standing.clusterId, wrong, soon()), next);
      assert.equal(await store.replaceClusterId(next, standing.clusterId, soon()), standing.clusterId);
      assert.deepEqual(await store.readMeta(soon()), standing);
    });

    it('rejects every call whose deadline has passed, and does nothing of it', async () => {
      const slot = newSlot();
      const past = systemClock.monotonicMs() - 1;
      for (const call of callsOf(context.store(), past)) await assert.rejects(call, isUnavailable);
      await assert.rejects(context.store().append(createRecord(slot, 1), past), isUnavailable);
      assert.equal(await context.store().readRecord(slot, 1, soon()), undefined);
    });

    it('settles every call no later than soon after its deadline', async () => {
      const records = Array.from({ length: 200 }, () => createRecord(newSlot(), 1, { body: 'x'.repeat(10_000) }));
      const deadline = systemClock.monotonicMs() + 1;
      const outcomes = await Promise.allSettled(records.map((record) => context.store().append(record, deadline)));
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') assert.ok(isUnavailable(outcome.reason));
      }
      // Whatever was rejected may or may not have been applied: reading back tells.
      for (const [index, record] of records.entries()) {
        const standing = await context.store().readRecord(record.slot, 1, soon());
        if (outcomes[index]?.status === 'fulfilled') assert.deepEqual(standing, record);
      }
    });

    it('has everything after it was closed and opened again', async (test) => {
      const record = createRecord(newSlot(), 1);
      const member = createMember();
      const tenantId = newTenantId();
      const grant = createGrantWrite(tenantId);
      await context.store().append(record, soon());
      await context.store().insertMember(member, soon());
      await context.store().writeState([grant], soon());
      await context.store().writeCheckpoint(record.slot, { seq: 1, stamp: 9, windowFrom: 1 }, soon());
      const reopening = context.reopen();
      if (reopening === undefined) {
        test.diagnostic('this store keeps nothing beyond its own life');
        return;
      }
      const store = await reopening;
      assert.deepEqual(await store.readMeta(soon()), context.meta());
      assert.deepEqual(await store.readRecord(record.slot, 1, soon()), record);
      assert.deepEqual(await store.append(record, soon()), { kind: 'occupied', record });
      assert.deepEqual(await store.readMember(member.incarnation, soon()), member);
      assert.deepEqual(await store.readCheckpoint(record.slot, soon()), { seq: 1, stamp: 9, windowFrom: 1 });
      const { subject, relation, object, grantId } = grant;
      assert.equal((await store.readGrant(tenantId, subject, relation, object, soon()))?.grantId, grantId);
    });

    it('settles what is in flight when it is closed, and rejects what comes after', async () => {
      const own = await context.open();
      await own.store.initializeMeta(META, soon());
      const inFlight = callsOf(own.store, soon());
      const closing = own.store.close();
      for (const outcome of await Promise.allSettled(inFlight)) {
        if (outcome.status === 'rejected') assert.ok(isUnavailable(outcome.reason));
      }
      await closing;
      for (const call of callsOf(own.store, soon())) await assert.rejects(call, isUnavailable);
      await own.store.close();
      await own.close();
    });
  });
}
