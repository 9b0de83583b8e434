// Real removal: of revoked grants once nothing can bring them back, and of all that a deleted tenant had.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TenantId } from '../../../src/core/ids.ts';
import { bucketOfSubject } from '../../../src/core/slots.ts';
import type { StateWrite, Store } from '../../../src/store/store.ts';
import {
  createGrantWrite,
  createKeyRecord,
  newSlot,
  newTenantId,
  readAllGrants,
  soon,
} from '../../support/store-fixtures.ts';
import type { StoreContext } from './store-contract.ts';

const STAMP = 1_780_000_000_000_000;
const SUBJECT = 'user:ann';

function everything(tenantId: TenantId, slot: number, stamp: number, grants: number): StateWrite[] {
  const tenant = { tenantId, name: 'Ann', plan: 'free', state: 'deleting', createdAtMs: 1 } as const;
  const row = { seq: 1, index: 0, atMs: 1, actor: 'operator:ann', requestId: 'req_1', change: '{}' };
  return [
    ...Array.from({ length: grants }, (_, index) =>
      createGrantWrite(tenantId, { object: `doc:${index}`, gone: index % 5 === 0, stamp }),
    ),
    { kind: 'subject', tenantId, subject: SUBJECT, stamp },
    { kind: 'namespace', tenantId, name: 'user', createdAtMs: 1, stamp },
    { kind: 'key', tenantId, key: createKeyRecord(), gone: false, stamp },
    { kind: 'tenant', slot, tenant, stamp },
    { kind: 'grant-count', slot, row: { tenantId, seq: 1, grants, bytes: 1, position: undefined, steps: 0 }, stamp },
    { kind: 'trail', tenantId, month: '2026-11', row, stamp },
  ];
}

async function countRows(store: Store, slot: number, tenantId: TenantId) {
  const bucket = bucketOfSubject(SUBJECT);
  return {
    grants: (await readAllGrants(store, { tenantId, subject: SUBJECT, limit: 1000 })).grants.length,
    subjects: (await store.listSubjects({ tenantId, bucket, limit: 10 }, soon())).length,
    namespaces: (await store.listNamespaces(tenantId, soon())).length,
    keys: (await store.listKeys(tenantId, soon())).length,
    keyUses: (await store.listKeyUses(tenantId, soon())).size,
    grantCounts: (await store.listGrantCounts({ slot, limit: 10 }, soon())).length,
  };
}

/** Calls until it says that nothing is left; returns how many calls it took. */
async function purge(store: Store, slot: number, tenantId: TenantId, stamp: number): Promise<number> {
  for (let calls = 1; calls <= 1000; calls += 1) {
    if (await store.purgeTenant({ slot, tenantId }, stamp, soon())) return calls;
  }
  throw new Error('The purge does not come to an end.');
}

export function defineRemovalContract(context: StoreContext): void {
  describe('removal', () => {
    it('removes gone grants that are no newer than their stamps, and nothing else', async () => {
      const tenantId = newTenantId();
      const write = (object: string, gone: boolean, stamp: number) =>
        createGrantWrite(tenantId, { object, gone, stamp });
      await context
        .store()
        .writeState(
          [write('doc:gone', true, STAMP), write('doc:newer', true, STAMP + 1), write('doc:live', false, STAMP)],
          soon(),
        );
      const target = (object: string) =>
        ({ tenantId, subject: SUBJECT, relation: 'viewer', object, stamp: STAMP }) as const;
      const targets = ['doc:gone', 'doc:newer', 'doc:live', 'doc:unknown'].map(target);
      await context.store().removeGone(targets, soon());
      await context.store().removeGone(targets, soon());
      // A removed row no longer stands against an older write, unless for a while; one that stayed does.
      const older = ['doc:gone', 'doc:newer'].map((object) => write(object, false, STAMP - 1));
      await context.store().writeState(older, soon());
      const { grants } = await readAllGrants(context.store(), { tenantId, subject: SUBJECT, limit: 10 });
      const shadowed = context.removalShadows() ? [] : ['viewer doc:gone'];
      assert.deepEqual(grants, [...shadowed, 'viewer doc:live']);
    });

    it('does not remove a gone grant of another tenant, subject or relation', async () => {
      const tenantId = newTenantId();
      await context.store().writeState([createGrantWrite(tenantId, { gone: true, stamp: STAMP })], soon());
      const target = { tenantId, subject: SUBJECT, relation: 'viewer', object: 'doc:1', stamp: STAMP } as const;
      await context.store().removeGone(
        [
          { ...target, tenantId: newTenantId() },
          { ...target, subject: 'user:bob' },
          { ...target, relation: 'editor' },
        ],
        soon(),
      );
      await context.store().writeState([createGrantWrite(tenantId, { stamp: STAMP - 1 })], soon());
      assert.equal(await context.store().readGrant(tenantId, SUBJECT, 'viewer', 'doc:1', soon()), undefined);
    });

    it('purges all that a tenant had, a bounded part per call, but its record and its trail', async () => {
      const tenantId = newTenantId();
      const other = newTenantId();
      const slot = newSlot();
      const otherSlot = newSlot();
      const writes = everything(tenantId, slot, STAMP, 2500);
      await context.store().writeState(writes, soon());
      await context.store().writeState(everything(other, otherSlot, STAMP, 3), soon());
      const [key] = await context.store().listKeys(tenantId, soon());
      assert.ok(key !== undefined);
      await context.store().writeKeyUse(tenantId, key.keyId, STAMP / 1000 - 5, soon());
      assert.ok((await purge(context.store(), slot, tenantId, STAMP)) > 2, 'it takes several calls');
      const nothing = { grants: 0, subjects: 0, namespaces: 0, keys: 0, keyUses: 0, grantCounts: 0 };
      assert.deepEqual(await countRows(context.store(), slot, tenantId), nothing);
      assert.equal((await context.store().listTenants({ slot, limit: 10 }, soon())).length, 1);
      assert.equal((await context.store().listTrail({ tenantId, month: '2026-11', limit: 10 }, soon())).length, 1);
      assert.deepEqual(await countRows(context.store(), otherSlot, other), {
        ...nothing,
        grants: 2,
        subjects: 1,
        namespaces: 1,
        keys: 1,
        grantCounts: 1,
      });
      assert.equal(await context.store().purgeTenant({ slot, tenantId }, STAMP, soon()), true);
    });

    it('purges nothing that is newer than the stamp', async () => {
      const tenantId = newTenantId();
      const slot = newSlot();
      await context.store().writeState(everything(tenantId, slot, STAMP, 10), soon());
      await purge(context.store(), slot, tenantId, STAMP - 1);
      assert.deepEqual(await countRows(context.store(), slot, tenantId), {
        grants: 8,
        subjects: 1,
        namespaces: 1,
        keys: 1,
        keyUses: 0,
        grantCounts: 1,
      });
    });

    it('has nothing to purge of an unknown tenant', async () => {
      assert.equal(await context.store().purgeTenant({ slot: 0, tenantId: newTenantId() }, STAMP, soon()), true);
    });
  });
}
