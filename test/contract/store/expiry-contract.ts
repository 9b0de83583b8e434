// Rows that tell when grants expire: listed in the order of time, removed up to a time, and gone with their tenant.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TenantId } from '../../../src/core/ids.ts';
import { bucketOfSubject } from '../../../src/core/slots.ts';
import type { ExpiryBound, ExpiryWrite } from '../../../src/store/store.ts';
import { createGrantWrite, newSlot, newTenantId, soon } from '../../kit/store/store-fixtures.ts';
import type { StoreContext } from './store-contract.ts';

const STAMP = 1_700_000_000_000_000;
const SUBJECT = 'user:ann';
const BUCKET = bucketOfSubject(SUBJECT);
const FIRST: ExpiryBound = { expiresAtMs: 0, subject: '', relation: '', object: '' };
/** Beyond 2³² ms. */
const T = 1_900_000_000_000;

const expiryWrite = (tenantId: TenantId, expiresAtMs: number, object: string, stamp = STAMP): ExpiryWrite => ({
  kind: 'expiry',
  tenantId,
  expiresAtMs,
  subject: SUBJECT,
  relation: 'viewer',
  object,
  stamp,
});

export function defineExpiryContract(context: StoreContext): void {
  const list = async (tenantId: TenantId, after = FIRST, limit = 100): Promise<string[]> => {
    const rows = await context.store().listExpiries({ tenantId, bucket: BUCKET, after, limit }, soon());
    return rows.map(({ expiresAtMs, object }) => `${expiresAtMs - T} ${object}`);
  };

  describe('expiries', () => {
    it('keeps the expiry of a grant with it, until a write says that it has none', async () => {
      const tenantId = newTenantId();
      const read = () => context.store().readGrant(tenantId, SUBJECT, 'viewer', 'doc:1', soon());
      await context.store().writeState([createGrantWrite(tenantId, { expiresAtMs: T, stamp: STAMP })], soon());
      assert.equal((await read())?.expiresAtMs, T);
      const { grants } = await context.store().listObjectGrants({ tenantId, object: 'doc:1', limit: 10 }, soon());
      assert.equal(grants[0]?.expiresAtMs, T);
      await context.store().writeState([createGrantWrite(tenantId, { stamp: STAMP + 1 })], soon());
      const row = await read();
      assert.ok(row !== undefined && !('expiresAtMs' in row));
    });

    it('keeps the condition of a grant with it, until a write says that it has none', async () => {
      const tenantId = newTenantId();
      const read = () => context.store().readGrant(tenantId, SUBJECT, 'viewer', 'doc:1', soon());
      const condition = 'open {"zone":"CÉT \\u0000"}';
      await context.store().writeState([createGrantWrite(tenantId, { condition, stamp: STAMP })], soon());
      assert.equal((await read())?.condition, condition);
      const { grants } = await context.store().listObjectGrants({ tenantId, object: 'doc:1', limit: 10 }, soon());
      assert.equal(grants[0]?.condition, condition);
      await context.store().writeState([createGrantWrite(tenantId, { stamp: STAMP + 1 })], soon());
      const row = await read();
      assert.ok(row !== undefined && !('condition' in row));
    });

    it('keeps with a count those by relation and by condition', async () => {
      const slot = newSlot();
      const tenantId = newTenantId();
      const counts = [
        [
          { key: 'relation:assignee', grants: 3 },
          { key: 'condition:a.b-c', grants: 1 },
        ],
        undefined,
      ] as const;
      for (const [step, byKey] of counts.entries()) {
        const row = { tenantId, seq: 7 + step, grants: 4, bytes: 2, ...(byKey && { byKey }) };
        await context.store().writeState([{ kind: 'grant-count', slot, row, stamp: STAMP + step }], soon());
        assert.deepEqual(await context.store().listGrantCounts({ slot, limit: 10 }, soon()), [row]);
      }
    });

    it('lists them by time, then by the bytes of the tuple, after any place', async () => {
      const tenantId = newTenantId();
      const writes = [
        expiryWrite(tenantId, T + 20, 'doc:1'),
        expiryWrite(tenantId, T + 3, 'doc:é'),
        expiryWrite(tenantId, T + 3, 'doc:2'),
        expiryWrite(tenantId, T + 3, 'doc:1'),
        expiryWrite(newTenantId(), T, 'doc:1'),
      ];
      await context.store().writeState([...writes, ...writes], soon());
      assert.deepEqual(await list(tenantId), ['3 doc:1', '3 doc:2', '3 doc:é', '20 doc:1']);
      assert.deepEqual(await list(tenantId, FIRST, 2), ['3 doc:1', '3 doc:2']);
      const after = { expiresAtMs: T + 3, subject: SUBJECT, relation: 'viewer', object: 'doc:2' };
      assert.deepEqual(await list(tenantId, after), ['3 doc:é', '20 doc:1']);
      assert.deepEqual(await list(tenantId, { ...FIRST, expiresAtMs: T + 4 }), ['20 doc:1']);
      const other = { tenantId, bucket: (BUCKET + 1) % 16, after: FIRST, limit: 10 };
      assert.deepEqual(await context.store().listExpiries(other, soon()), []);
    });

    it('removes those up to a time, of one bucket, if they are no newer than the stamp', async () => {
      const tenantId = newTenantId();
      await context
        .store()
        .writeState(
          [
            expiryWrite(tenantId, T + 1, 'doc:1'),
            expiryWrite(tenantId, T + 2, 'doc:2'),
            expiryWrite(tenantId, T + 3, 'doc:3'),
          ],
          soon(),
        );
      await context.store().writeState([expiryWrite(tenantId, T + 1, 'doc:9', STAMP + 5)], soon());
      await context.store().removeExpiries({ tenantId, bucket: (BUCKET + 1) % 16, toMs: T + 9 }, STAMP, soon());
      assert.equal((await list(tenantId)).length, 4);
      await context.store().removeExpiries({ tenantId, bucket: BUCKET, toMs: T + 2 }, STAMP, soon());
      await context.store().removeExpiries({ tenantId, bucket: BUCKET, toMs: T + 2 }, STAMP, soon());
      assert.deepEqual(await list(tenantId), ['1 doc:9', '3 doc:3']);
    });

    it('removes any number of them', async () => {
      const tenantId = newTenantId();
      const writes = Array.from({ length: 200 }, (_, index) => expiryWrite(tenantId, T, `doc:${index}`));
      await context.store().writeState(writes, soon());
      await context.store().removeExpiries({ tenantId, bucket: BUCKET, toMs: T }, STAMP, soon());
      assert.deepEqual(await list(tenantId), []);
    });

    it('purges them with their tenant', async () => {
      const tenantId = newTenantId();
      const slot = newSlot();
      const subject = { kind: 'subject', tenantId, subject: SUBJECT, stamp: STAMP } as const;
      const grant = createGrantWrite(tenantId, { expiresAtMs: T, stamp: STAMP });
      await context.store().writeState([subject, grant, expiryWrite(tenantId, T, 'doc:1')], soon());
      while (!(await context.store().purgeTenant({ slot, tenantId }, STAMP + 1, soon())));
      assert.deepEqual(await list(tenantId), []);
    });

    it('keeps with a count up to when expired grants are collected', async () => {
      const slot = newSlot();
      const tenantId = newTenantId();
      for (const step of [0, 1]) {
        const row = { tenantId, seq: 7, grants: 1, bytes: 2, collectedToBaseMs: T + step };
        await context.store().writeState([{ kind: 'grant-count', slot, row, stamp: STAMP + step }], soon());
        assert.deepEqual(await context.store().listGrantCounts({ slot, limit: 10 }, soon()), [row]);
      }
    });
  });
}
