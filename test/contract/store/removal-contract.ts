// Real removal: of revoked grants once nothing can bring them back, and of all that a deleted tenant had.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KeyId, TenantId } from '../../../src/core/ids.ts';
import { bucketOfSubject } from '../../../src/core/slots.ts';
import type { RemovableRow, StateWrite, Store } from '../../../src/store/store.ts';
import {
  createGrantWrite,
  createKeyRecord,
  createRulesWrite,
  newSlot,
  newTenantId,
  readAllGrants,
  readAllObjectGrants,
  soon,
} from '../../kit/store/store-fixtures.ts';
import type { StoreContext } from './store-contract.ts';

const STAMP = 1_780_000_000_000_000;
/** Uses of keys have the time of a wall clock: this one is a year ahead. */
const CLOCK_AHEAD_MS = 365 * 24 * 3_600_000;
const SUBJECT = 'user:ann';

/** An order that has nothing to do with that of the rows. */
const hashOf = (row: RemovableRow): number => bucketOfSubject(JSON.stringify(row));

function everything(tenantId: TenantId, slot: number, stamp: number, grants: number): StateWrite[] {
  const tenant = { tenantId, name: 'Ann', plan: 'free', state: 'deleting', createdAtMs: 1 } as const;
  const row = { seq: 1, index: 0, atMs: 1, actor: 'operator:ann', requestId: 'req_1', change: '{}' };
  return [
    ...Array.from({ length: grants }, (_, index) =>
      createGrantWrite(tenantId, { object: `doc:${index}`, tombstone: index % 5 === 0, stamp }),
    ),
    { kind: 'subject', tenantId, subject: SUBJECT, stamp },
    { kind: 'namespace', tenantId, name: 'user', createdAtMs: 1, stamp },
    { kind: 'key', tenantId, key: createKeyRecord(), tombstone: false, stamp },
    { kind: 'tenant', slot, tenant, stamp },
    createRulesWrite(tenantId, 1, { stamp }),
    createRulesWrite(tenantId, 2, { stamp }),
    { kind: 'grant-count', slot, row: { tenantId, seq: 1, grants, bytes: 1 }, stamp },
    { kind: 'audit-log', tenantId, month: '2026-11', row, stamp },
  ];
}

async function countRows(store: Store, slot: number, tenantId: TenantId, keyIds: readonly KeyId[] = []) {
  const bucket = bucketOfSubject(SUBJECT);
  return {
    grants: (await readAllGrants(store, { tenantId, subject: SUBJECT, limit: 1000 })).grants.length,
    objectGrants: (await readAllObjectGrants(store, { tenantId, object: 'doc:1', limit: 1000 })).grants.length,
    subjects: (await store.listSubjects({ tenantId, bucket, limit: 10 }, soon())).length,
    namespaces: (await store.listNamespaces(tenantId, soon())).length,
    keys: (await store.listKeys({ tenantId, limit: 10 }, soon())).keys.length,
    rules: (await store.listRulesVersions(tenantId, soon())).length,
    keyUses: (await store.listKeyUses(tenantId, keyIds, soon())).size,
    usage: (await store.readUsage({ tenantId, from: 0, to: 1000 }, soon())).length,
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
      const write = (object: string, tombstone: boolean, stamp: number) =>
        createGrantWrite(tenantId, { object, tombstone, stamp });
      await context
        .store()
        .writeState(
          [write('doc:gone', true, STAMP), write('doc:newer', true, STAMP + 1), write('doc:live', false, STAMP)],
          soon(),
        );
      const target = (object: string) =>
        ({ kind: 'grant', tenantId, subject: SUBJECT, relation: 'viewer', object, stamp: STAMP }) as const;
      const targets = ['doc:gone', 'doc:newer', 'doc:live', 'doc:unknown'].map(target);
      await context.store().removeTombstones(targets, soon());
      await context.store().removeTombstones(targets, soon());
      // A removed row no longer stands against an older write, unless for a while; one that stayed does.
      const older = ['doc:gone', 'doc:newer'].map((object) => write(object, false, STAMP - 1));
      await context.store().writeState(older, soon());
      const { grants } = await readAllGrants(context.store(), { tenantId, subject: SUBJECT, limit: 10 });
      const shadowed = context.removalShadows() ? [] : ['viewer doc:gone'];
      assert.deepEqual(grants, [...shadowed, 'viewer doc:live']);
      const holders = async (object: string) =>
        (await readAllObjectGrants(context.store(), { tenantId, object, limit: 10 })).grants;
      assert.deepEqual(await holders('doc:gone'), context.removalShadows() ? [] : [`viewer ${SUBJECT}`]);
      assert.deepEqual(await holders('doc:newer'), []);
      assert.deepEqual(await holders('doc:live'), [`viewer ${SUBJECT}`]);
    });

    it('does not remove a gone grant of another tenant, subject or relation', async () => {
      const tenantId = newTenantId();
      await context.store().writeState([createGrantWrite(tenantId, { tombstone: true, stamp: STAMP })], soon());
      const target = createGrantWrite(tenantId, { tombstone: true, stamp: STAMP });
      await context.store().removeTombstones(
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

    it('removes revoked keys that are no newer than their stamps, with their uses, and nothing else', async () => {
      const tenantId = newTenantId();
      const other = newTenantId();
      const store = context.store();
      const keys = Array.from({ length: 40 }, () => createKeyRecord()).sort((left, right) =>
        left.keyId < right.keyId ? -1 : 1,
      );
      const isRevoked = (index: number) => index % 5 !== 2;
      const isNewer = (index: number) => index % 7 === 3;
      const writes = keys.map((key, index): StateWrite => {
        const stamp = STAMP + (isNewer(index) ? 1 : 0);
        return { kind: 'key', tenantId, key, tombstone: isRevoked(index), stamp };
      });
      const foreign = keys.map(
        (key): StateWrite => ({ kind: 'key', tenantId: other, key, tombstone: true, stamp: STAMP }),
      );
      await store.writeState([...writes, ...foreign], soon());
      for (const { keyId } of keys) await store.writeKeyUse(tenantId, keyId, STAMP / 1000 + 3_600_000, soon());
      // All but the last, in no order.
      const targets = keys
        .slice(0, -1)
        .map(({ keyId }): RemovableRow => ({ kind: 'key', tenantId, keyId, stamp: STAMP }))
        .toSorted((left, right) => hashOf(left) - hashOf(right));
      await store.removeTombstones(targets, soon());
      await store.removeTombstones(targets, soon());
      const left = keys.filter((_, index) => !isRevoked(index) || isNewer(index) || index === keys.length - 1);
      const page = await store.listKeys({ tenantId, limit: 100 }, soon());
      assert.deepEqual(
        page.keys,
        keys.filter((_, index) => !isRevoked(index)),
      );
      assert.deepEqual(
        [...page.revoked, ...page.keys.map(({ keyId }) => keyId)].sort(),
        left.map(({ keyId }) => keyId),
      );
      const uses = await store.listKeyUses(
        tenantId,
        keys.map(({ keyId }) => keyId),
        soon(),
      );
      assert.deepEqual(
        [...uses.keys()].sort(),
        left.map(({ keyId }) => keyId),
      );
      assert.equal((await store.listKeys({ tenantId: other, limit: 100 }, soon())).revoked.length, keys.length);
    });

    it('removes the records of deleted tenants that are no newer than their stamps, and nothing else', async () => {
      const slot = newSlot();
      const store = context.store();
      const states = ['deleted', 'active', 'deleted', 'suspended', 'deleting', 'deleted', 'deleted'] as const;
      const tenants = Array.from({ length: 35 }, newTenantId)
        .sort()
        .map((tenantId, index) => {
          const state = states[index % states.length] ?? 'active';
          return { tenantId, name: `Tenant ${index}`, plan: 'free', state, createdAtMs: index };
        });
      const isNewer = (index: number) => index % 3 === 1;
      const writes = tenants.map((tenant, index): StateWrite => {
        return { kind: 'tenant', slot, tenant, stamp: STAMP + (isNewer(index) ? 1 : 0) };
      });
      await store.writeState(writes, soon());
      const targets = tenants.map(({ tenantId }): RemovableRow => ({ kind: 'tenant', slot, tenantId, stamp: STAMP }));
      await store.removeTombstones(targets, soon());
      await store.removeTombstones(targets.toReversed(), soon());
      const left = tenants.filter(({ state }, index) => state !== 'deleted' || isNewer(index));
      assert.deepEqual(await store.listTenants({ slot, limit: 100 }, soon()), left);
    });

    it('removes subjects that were not written again since, and nothing else', async () => {
      const tenantId = newTenantId();
      const store = context.store();
      const bucket = bucketOfSubject(SUBJECT);
      const subjects: string[] = [];
      for (let number = 0; subjects.length < 40; number += 1) {
        const subject = `user:é${String(number).padStart(4, '0')}`;
        if (bucketOfSubject(subject) === bucket) subjects.push(subject);
      }
      const write = (subject: string, stamp: number): StateWrite => ({ kind: 'subject', tenantId, subject, stamp });
      await store.writeState(
        subjects.map((subject) => write(subject, STAMP - 1)),
        soon(),
      );
      const again = subjects.filter((_, index) => index % 6 === 0);
      await store.writeState(
        again.map((subject) => write(subject, STAMP + 1)),
        soon(),
      );
      const targeted = subjects.filter((_, index) => index % 4 !== 3);
      const targets = targeted.map((subject): RemovableRow => ({ kind: 'subject', tenantId, subject, stamp: STAMP }));
      await store.removeTombstones(targets, soon());
      await store.removeTombstones(targets.toReversed(), soon());
      const left = subjects.filter((subject) => again.includes(subject) || !targeted.includes(subject));
      assert.deepEqual(await store.listSubjects({ tenantId, bucket, limit: 100 }, soon()), left);
      // What is newer stands, where something was removed as well.
      await store.writeState([write(subjects[1] ?? '', STAMP + 2)], soon());
      const more = [...left, subjects[1] ?? ''].sort();
      assert.deepEqual(await store.listSubjects({ tenantId, bucket, limit: 100 }, soon()), more);
    });

    it('purges all that a tenant had, a bounded part per call, but its record and its audit log', async () => {
      const tenantId = newTenantId();
      const other = newTenantId();
      const slot = newSlot();
      const otherSlot = newSlot();
      const writes = everything(tenantId, slot, STAMP, 2500);
      await context.store().writeState(writes, soon());
      await context.store().writeState(everything(other, otherSlot, STAMP, 3), soon());
      const { keys } = await context.store().listKeys({ tenantId, limit: 10 }, soon());
      const [key] = keys;
      assert.ok(key !== undefined);
      await context.store().writeKeyUse(tenantId, key.keyId, STAMP / 1000 + CLOCK_AHEAD_MS, soon());
      const usage = [{ place: 1, counts: '[]' }];
      await context.store().writeUsage(tenantId, usage, STAMP / 1000 + CLOCK_AHEAD_MS, soon());
      assert.ok((await purge(context.store(), slot, tenantId, STAMP)) > 2, 'it takes several calls');
      const nothing = {
        grants: 0,
        objectGrants: 0,
        subjects: 0,
        namespaces: 0,
        keys: 0,
        rules: 0,
        keyUses: 0,
        usage: 0,
        grantCounts: 0,
      };
      assert.deepEqual(await countRows(context.store(), slot, tenantId, [key.keyId]), nothing);
      assert.equal((await context.store().listTenants({ slot, limit: 10 }, soon())).length, 1);
      assert.equal((await context.store().listAuditLog({ tenantId, month: '2026-11', limit: 10 }, soon())).length, 1);
      assert.deepEqual(await countRows(context.store(), otherSlot, other), {
        ...nothing,
        grants: 2,
        objectGrants: 1,
        subjects: 1,
        namespaces: 1,
        keys: 1,
        rules: 2,
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
        objectGrants: 1,
        subjects: 1,
        namespaces: 1,
        keys: 1,
        rules: 2,
        keyUses: 0,
        usage: 0,
        grantCounts: 1,
      });
    });

    it('shadows a use of a key that comes after the purge, by whatever clock, though there was none before', async () => {
      const tenantId = newTenantId();
      const slot = newSlot();
      const { keyId } = createKeyRecord();
      await purge(context.store(), slot, tenantId, STAMP);
      await context.store().writeKeyUse(tenantId, keyId, STAMP / 1000 + CLOCK_AHEAD_MS, soon());
      // A store whose writes never come out of order has none that come late.
      assert.equal(
        (await context.store().listKeyUses(tenantId, [keyId], soon())).size,
        context.removalShadows() ? 0 : 1,
      );
    });

    it('has nothing to purge of an unknown tenant', async () => {
      assert.equal(await context.store().purgeTenant({ slot: 0, tenantId: newTenantId() }, STAMP, soon()), true);
    });
  });
}
