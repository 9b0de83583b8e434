// Stamps: the greatest wins, so that writes of state can come in any order and any number of times.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { KeyId, TenantId } from '../../../src/core/ids.ts';
import type { Checkpoint, GrantWrite, StateWrite, Store } from '../../../src/store/store.ts';
import {
  createGrantWrite,
  createKeyRecord,
  newKeyId,
  newSlot,
  newTenantId,
  soon,
} from '../../kit/store/store-fixtures.ts';
import type { StoreContext } from './store-contract.ts';

/** As large as stamps get: microseconds of the year 2026, and above 2^50. */
const BASE = 1_780_000_000_000_000;

interface Scene {
  readonly tenantId: TenantId;
  readonly keyIds: readonly KeyId[];
  readonly slot: number;
}

const createScene = (): Scene => ({
  tenantId: newTenantId(),
  keyIds: [newKeyId(), newKeyId()].sort(),
  slot: newSlot(),
});

/** One write of few rows; `step` makes its stamp and, by it, everything in the row. */
const writeArbitrary = fc.record({
  table: fc.constantFrom('grant', 'namespace', 'key', 'tenant', 'audit-log', 'grant-count'),
  row: fc.integer({ min: 0, max: 1 }),
  step: fc.integer({ min: 0, max: 40 }),
});

function toWrite(scene: Scene, table: string, row: number, step: number): StateWrite {
  const { tenantId } = scene;
  const stamp = BASE + step;
  const tombstone = step % 3 === 0;
  switch (table) {
    case 'grant':
      return createGrantWrite(tenantId, {
        object: `doc:${row}`,
        grantId: `grt_${step}`,
        createdAtMs: step,
        tombstone,
        stamp,
      });
    case 'namespace':
      return { kind: 'namespace', tenantId, name: `ns${row}`, createdAtMs: step, stamp };
    case 'key': {
      const keyId = scene.keyIds[row] ?? newKeyId();
      const expiresAtMs = step % 2 === 0 ? undefined : step;
      const key = createKeyRecord({ keyId, name: `key ${step}`, scopes: step % 8, createdAtMs: step, expiresAtMs });
      return { kind: 'key', tenantId, key, tombstone, stamp };
    }
    case 'tenant': {
      const state = tombstone ? 'suspended' : 'active';
      const tenant = { tenantId, name: `name ${step}`, plan: `plan${step}`, state, createdAtMs: step } as const;
      return { kind: 'tenant', slot: scene.slot, tenant, stamp };
    }
    case 'grant-count': {
      const byKey = step % 2 === 0 ? {} : { byKey: COUNTED.map((key) => ({ key, grants: step })) };
      const counted = { tenantId, seq: step, grants: step, bytes: 2 * step, ...byKey };
      return { kind: 'grant-count', slot: scene.slot, row: counted, stamp };
    }
    default: {
      const row_ = { seq: row + 1, index: 0, atMs: step, actor: 'operator:ann', requestId: 'req_1', change: `${step}` };
      return { kind: 'audit-log', tenantId, month: '2026-11', row: row_, stamp };
    }
  }
}

/** With names that could be mistaken for another part of a count. */
const COUNTED = ['relation:to', 'relation:relation', 'condition:a.b-c', 'condition:relation'] as const;

async function readScene(store: Store, { tenantId, slot }: Scene): Promise<unknown> {
  const { keys, revoked } = await store.listKeys({ tenantId, limit: 100 }, soon());
  const named = (value: unknown) =>
    JSON.parse(JSON.stringify(value, (key, each) => (['tenantId', 'keyId'].includes(key) ? '' : each))) as unknown;
  return named({
    grants: await store.listGrants({ tenantId, subject: 'user:ann', limit: 100 }, soon()),
    objectGrants: await Promise.all(
      ['doc:0', 'doc:1', 'doc:2'].map((object) => store.listObjectGrants({ tenantId, object, limit: 100 }, soon())),
    ),
    namespaces: await store.listNamespaces(tenantId, soon()),
    keys,
    revokedKeys: revoked.length,
    tenants: await store.listTenants({ slot, limit: 10 }, soon()),
    counts: await store.listGrantCounts({ slot, limit: 10 }, soon()),
    auditLog: await store.listAuditLog({ tenantId, month: '2026-11', limit: 10 }, soon()),
  });
}

export function defineStampContract(context: StoreContext): void {
  describe('stamps', () => {
    const write = (change: Partial<GrantWrite> & { tenantId: TenantId }) =>
      context.store().writeState([createGrantWrite(change.tenantId, change)], soon());
    const read = (tenantId: TenantId) => context.store().readGrant(tenantId, 'user:ann', 'viewer', 'doc:1', soon());

    it('lets a smaller stamp never change a row', async () => {
      const tenantId = newTenantId();
      await write({ tenantId, grantId: 'grt_new', stamp: BASE + 1 });
      await write({ tenantId, grantId: 'grt_old', stamp: BASE });
      assert.equal((await read(tenantId))?.grantId, 'grt_new');
      await write({ tenantId, tombstone: true, stamp: BASE });
      assert.equal((await read(tenantId))?.grantId, 'grt_new');
    });

    it('never brings a revoked grant back by an older write, and brings it back by a newer one', async () => {
      const tenantId = newTenantId();
      await write({ tenantId, tombstone: true, stamp: BASE + 2 });
      await write({ tenantId, stamp: BASE + 1 });
      assert.equal(await read(tenantId), undefined);
      const page = await context.store().listGrants({ tenantId, subject: 'user:ann', limit: 10 }, soon());
      assert.deepEqual(page.grants, []);
      const listObject = async () =>
        (await context.store().listObjectGrants({ tenantId, object: 'doc:1', limit: 10 }, soon())).grants;
      assert.deepEqual(await listObject(), []);
      await write({ tenantId, grantId: 'grt_again', stamp: BASE + 3 });
      assert.equal((await read(tenantId))?.grantId, 'grt_again');
      assert.equal((await listObject())[0]?.grantId, 'grt_again');
    });

    it('hides a revoked key from the listing, whichever write comes last', async () => {
      const tenantId = newTenantId();
      const key = createKeyRecord();
      const revoked = { kind: 'key', tenantId, key, tombstone: true, stamp: BASE + 2 } as const;
      const made = { kind: 'key', tenantId, key, tombstone: false, stamp: BASE + 1 } as const;
      await context.store().writeState([made], soon());
      assert.deepEqual((await context.store().listKeys({ tenantId, limit: 10 }, soon())).keys, [key]);
      await context.store().writeState([revoked], soon());
      await context.store().writeState([made], soon());
      assert.deepEqual((await context.store().listKeys({ tenantId, limit: 10 }, soon())).keys, []);
    });

    it('does nothing twice: the same write again changes nothing', async () => {
      const tenantId = newTenantId();
      await write({ tenantId, grantId: 'grt_1', stamp: BASE });
      await write({ tenantId, grantId: 'grt_1', stamp: BASE });
      assert.equal((await read(tenantId))?.grantId, 'grt_1');
    });

    it('tells stamps apart that differ by one microsecond', async () => {
      const tenantId = newTenantId();
      const far = Number.MAX_SAFE_INTEGER - 1;
      await write({ tenantId, grantId: 'grt_1', stamp: far });
      await write({ tenantId, grantId: 'grt_2', stamp: far + 1 });
      await write({ tenantId, grantId: 'grt_3', stamp: far });
      assert.equal((await read(tenantId))?.grantId, 'grt_2');
    });

    it('reaches the same state in any order, in any batches, with any repetitions', async () => {
      const plan = fc.array(writeArbitrary, { minLength: 1, maxLength: 30 }).chain((writes) =>
        fc.record({
          writes: fc.constant(writes),
          shuffled: fc.shuffledSubarray([...writes, ...writes], { minLength: 2 * writes.length }),
          cut: fc.integer({ min: 1, max: 10 }),
        }),
      );
      await fc.assert(
        fc.asyncProperty(plan, async ({ writes, shuffled, cut }) => {
          const ordered = createScene();
          const scrambled = createScene();
          const inOrder = writes.toSorted((left, right) => left.step - right.step);
          for (const { table, row, step } of inOrder) {
            await context.store().writeState([toWrite(ordered, table, row, step)], soon());
          }
          const batches: Promise<void>[] = [];
          for (let at = 0; at < shuffled.length; at += cut) {
            const batch = shuffled.slice(at, at + cut);
            const rows = batch.map(({ table, row, step }) => toWrite(scrambled, table, row, step));
            batches.push(context.store().writeState(rows, soon()));
          }
          await Promise.all(batches);
          assert.deepEqual(await readScene(context.store(), scrambled), await readScene(context.store(), ordered));
        }),
        { numRuns: 30 },
      );
    });

    it('never sets a checkpoint back', async () => {
      const slot = newSlot();
      assert.equal(await context.store().readCheckpoint(slot, soon()), undefined);
      await context.store().writeCheckpoint(slot, { seq: 10, stamp: BASE + 10, windowFrom: 1 }, soon());
      await context.store().writeCheckpoint(slot, { seq: 4, stamp: BASE + 4, windowFrom: 1 }, soon());
      assert.deepEqual(await context.store().readCheckpoint(slot, soon()), {
        seq: 10,
        stamp: BASE + 10,
        windowFrom: 1,
      });
      await context.store().writeCheckpoint(slot, { seq: 12, stamp: BASE + 12, windowFrom: 1 }, soon());
      assert.deepEqual(await context.store().readCheckpoint(slot, soon()), {
        seq: 12,
        stamp: BASE + 12,
        windowFrom: 1,
      });
      assert.equal(await context.store().readCheckpoint(newSlot(), soon()), undefined);
    });

    it('keeps the later list of hot pages of each slot', async () => {
      const [slot, other] = [newSlot(), newSlot()];
      const read = (of: number) => context.store().readHotPages(of, soon());
      assert.equal(await read(slot), undefined);
      await context.store().writeHotPages(slot, '{"any":"text ü 😀"}', 2000, soon());
      assert.equal(await read(slot), '{"any":"text ü 😀"}');
      await context.store().writeHotPages(slot, 'earlier', 1000, soon());
      assert.equal(await read(slot), '{"any":"text ü 😀"}');
      await context.store().writeHotPages(slot, 'x'.repeat(32 * 1024), 3000, soon());
      assert.equal((await read(slot))?.length, 32 * 1024);
      assert.equal(await read(other), undefined);
    });

    it('lets of two checkpoints of one stamp the greater start of the window stand', async () => {
      const slot = newSlot();
      const write = (checkpoint: Checkpoint) => context.store().writeCheckpoint(slot, checkpoint, soon());
      const read = () => context.store().readCheckpoint(slot, soon());
      const checkpoint = { seq: 10, stamp: BASE + 10 };
      await write({ ...checkpoint, windowFrom: 3 });
      assert.deepEqual(await read(), { ...checkpoint, windowFrom: 3 });
      await write({ ...checkpoint, windowFrom: 11 });
      assert.deepEqual(await read(), { ...checkpoint, windowFrom: 11 });
      await write({ ...checkpoint, windowFrom: 9 });
      assert.deepEqual(await read(), { ...checkpoint, windowFrom: 11 });
      await write({ seq: 9, stamp: BASE + 9, windowFrom: 10 });
      assert.deepEqual(await read(), { ...checkpoint, windowFrom: 11 });
      const next = { seq: 12, stamp: BASE + 12, windowFrom: 5 };
      await write(next);
      assert.deepEqual(await read(), next);
      await write({ seq: 13, stamp: BASE + 13, windowFrom: 14 });
      assert.deepEqual(await read(), { seq: 13, stamp: BASE + 13, windowFrom: 14 });
    });
  });
}
