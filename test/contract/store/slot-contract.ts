// Ownership of slots: each change tests owner and epoch, and answers with the row that stands after it.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { claimFresh, newIncarnation, newSlot, soon } from '../../kit/store/store-fixtures.ts';
import type { StoreContext } from './store-contract.ts';

export function defineSlotContract(context: StoreContext): void {
  describe('slots', () => {
    it('gives a slot without a row to the first claimant, at epoch 1', async () => {
      const slot = newSlot();
      const owner = newIncarnation();
      assert.equal(await context.store().readSlot(slot, soon()), undefined);
      const row = { slot, owner, epoch: 1, opened: undefined, first: 1 };
      const claim = await context.store().claimSlot({ slot, expected: undefined, owner }, soon());
      assert.deepEqual(claim, { applied: true, row });
      assert.deepEqual(await context.store().readSlot(slot, soon()), row);
      const late = await context.store().claimSlot({ slot, expected: undefined, owner: newIncarnation() }, soon());
      assert.deepEqual(late, { applied: false, row });
    });

    it('refuses a claim that expects a row where there is none, and makes none', async () => {
      const slot = newSlot();
      for (const owner of [undefined, newIncarnation()]) {
        const claim = { slot, expected: { owner, epoch: 1 }, owner: newIncarnation() };
        assert.deepEqual(await context.store().claimSlot(claim, soon()), { applied: false, row: undefined });
      }
      assert.equal(await context.store().readSlot(slot, soon()), undefined);
    });

    it('moves a slot from the expected owner and epoch, one epoch up', async () => {
      const owner = newIncarnation();
      const next = newIncarnation();
      const row = await claimFresh(context.store(), owner);
      const claim = (expected: { owner: string | undefined; epoch: number }) =>
        context.store().claimSlot({ slot: row.slot, expected, owner: next }, soon());
      assert.deepEqual(await claim({ owner: next, epoch: 1 }), { applied: false, row });
      assert.deepEqual(await claim({ owner, epoch: 2 }), { applied: false, row });
      assert.deepEqual(await claim({ owner: undefined, epoch: 1 }), { applied: false, row });
      assert.deepEqual(await claim({ owner, epoch: 1 }), { applied: true, row: { ...row, owner: next, epoch: 2 } });
      assert.deepEqual(await claim({ owner, epoch: 1 }), { applied: false, row: { ...row, owner: next, epoch: 2 } });
    });

    it('lets an owner claim its own slot again', async () => {
      const owner = newIncarnation();
      const row = await claimFresh(context.store(), owner);
      const claim = await context.store().claimSlot({ slot: row.slot, expected: row, owner }, soon());
      assert.deepEqual(claim, { applied: true, row: { ...row, epoch: 2 } });
    });

    it('lets exactly one of many concurrent claims win', async () => {
      const slot = newSlot();
      const owners = Array.from({ length: 8 }, newIncarnation);
      for (const expected of [undefined, 'the row that stands']) {
        const standing = await context.store().readSlot(slot, soon());
        const claims = await Promise.all(
          owners.map((owner) =>
            context.store().claimSlot({ slot, expected: expected === undefined ? undefined : standing, owner }, soon()),
          ),
        );
        assert.equal(claims.filter((claim) => claim.applied).length, 1);
        const row = await context.store().readSlot(slot, soon());
        assert.equal(row?.owner, owners[claims.findIndex((claim) => claim.applied)]);
        assert.equal(row?.epoch, (standing?.epoch ?? 0) + 1);
      }
    });

    it('releases a slot of this owner and epoch, and keeps the epoch', async () => {
      const owner = newIncarnation();
      const next = newIncarnation();
      const row = await claimFresh(context.store(), owner);
      const release = (change: { owner?: string; epoch?: number; slot?: number }) =>
        context.store().releaseSlot({ slot: row.slot, owner, epoch: 1, successor: undefined, ...change }, soon());
      assert.deepEqual(await release({ owner: next }), { applied: false, row });
      assert.deepEqual(await release({ epoch: 2 }), { applied: false, row });
      assert.deepEqual(await release({ slot: newSlot() }), { applied: false, row: undefined });
      const released = { ...row, owner: undefined };
      assert.deepEqual(await release({}), { applied: true, row: released });
      assert.deepEqual(await release({}), { applied: false, row: released });
      const expected = { owner: undefined, epoch: 1 };
      const claim = await context.store().claimSlot({ slot: row.slot, expected, owner: next }, soon());
      assert.deepEqual(claim, { applied: true, row: { ...row, owner: next, epoch: 2 } });
    });

    it('is handed over by its owner, once, in the next epoch', async () => {
      const owner = newIncarnation();
      const next = newIncarnation();
      const row = await claimFresh(context.store(), owner);
      const handover = { slot: row.slot, owner, epoch: 1, successor: next };
      const handedOver = { ...row, owner: next, epoch: 2 };
      for (const applied of [true, false]) {
        assert.deepEqual(await context.store().releaseSlot(handover, soon()), { applied, row: handedOver });
      }
      const late = context.store().releaseSlot({ ...handover, successor: undefined }, soon());
      assert.deepEqual(await late, { applied: false, row: handedOver });
    });

    it('records the open entry of this owner and epoch, and keeps it through a change of owner', async () => {
      const owner = newIncarnation();
      const next = newIncarnation();
      const row = await claimFresh(context.store(), owner);
      const record = (change: { owner?: string; epoch?: number; slot?: number }) =>
        context.store().recordOpened({ slot: row.slot, owner, epoch: 1, opened: 5, ...change }, soon());
      assert.deepEqual(await record({ owner: next }), { applied: false, row });
      assert.deepEqual(await record({ epoch: 2 }), { applied: false, row });
      assert.deepEqual(await record({ slot: newSlot() }), { applied: false, row: undefined });
      assert.deepEqual(await record({}), { applied: true, row: { ...row, opened: 5 } });
      const claim = await context.store().claimSlot({ slot: row.slot, expected: row, owner: next }, soon());
      assert.deepEqual(claim.row, { ...row, opened: 5, owner: next, epoch: 2 });
      assert.equal((await record({})).applied, false);
    });

    it('moves `first` only forward, and only for this owner and epoch', async () => {
      const owner = newIncarnation();
      const row = await claimFresh(context.store(), owner);
      const record = (first: number, change: { owner?: string; epoch?: number; slot?: number } = {}) =>
        context.store().recordFirst({ slot: row.slot, owner, epoch: 1, first, ...change }, soon());
      assert.deepEqual(await record(9, { owner: newIncarnation() }), { applied: false, row });
      assert.deepEqual(await record(9, { epoch: 2 }), { applied: false, row });
      assert.deepEqual(await record(9, { slot: newSlot() }), { applied: false, row: undefined });
      assert.deepEqual(await record(1), { applied: false, row });
      assert.deepEqual(await record(9), { applied: true, row: { ...row, first: 9 } });
      assert.deepEqual(await record(9), { applied: false, row: { ...row, first: 9 } });
      assert.deepEqual(await record(8), { applied: false, row: { ...row, first: 9 } });
    });

    it('lists every slot', async () => {
      const owner = newIncarnation();
      const rows = [await claimFresh(context.store(), owner), await claimFresh(context.store(), owner)];
      const listed = await context.store().listSlots(soon());
      assert.deepEqual(
        listed.filter((row) => row.owner === owner).sort((left, right) => left.slot - right.slot),
        rows,
      );
      const [first] = rows;
      assert.deepEqual(await context.store().listSomeSlots([first?.slot ?? 0], soon()), [first]);
      assert.deepEqual(await context.store().listSomeSlots([], soon()), []);
    });
  });
}
