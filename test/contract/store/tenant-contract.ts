// What a tenant has besides grants: its record, namespaces, keys and their uses, its usage, and its audit log.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KeyId, TenantId } from '../../../src/core/ids.ts';
import { RULES_VERSIONS_MAX } from '../../../src/core/rules-versions.ts';
import type { AuditLogRow, UsageRow } from '../../../src/store/store.ts';
import {
  createKeyRecord,
  createRulesWrite,
  newKeyId,
  newSlot,
  newTenantId,
  soon,
} from '../../kit/store/store-fixtures.ts';
import type { StoreContext } from './store-contract.ts';

const STAMP = 1_780_000_000_000_000;

const auditLogRow = (seq: number, index: number): AuditLogRow => ({
  seq,
  index,
  atMs: 1_780_000_000_000 + seq,
  actor: 'operator:ann',
  requestId: 'req_00000000000000000000000000',
  change: JSON.stringify({ action: 'grant.created', object: `doc:😀${seq}.${index}` }),
});

export function defineTenantContract(context: StoreContext): void {
  describe('tenants', () => {
    it('lists the tenants of a slot by id, deleted ones included, page by page', async () => {
      const slot = newSlot();
      const tenants = Array.from({ length: 5 }, (_, index) => ({
        tenantId: newTenantId(),
        name: `Tenant é ${index}`,
        plan: 'free',
        state: (['active', 'suspended', 'deleting', 'deleted'] as const)[index % 4] ?? 'active',
        createdAtMs: 1_780_000_000_000 + index,
      })).sort((left, right) => (left.tenantId < right.tenantId ? -1 : 1));
      const writes = tenants.map((tenant) => ({ kind: 'tenant', slot, tenant, stamp: STAMP }) as const);
      await context.store().writeState(writes.toReversed(), soon());
      assert.deepEqual(await context.store().listTenants({ slot, limit: 100 }, soon()), tenants);
      assert.deepEqual(await context.store().listTenants({ slot, limit: 2 }, soon()), tenants.slice(0, 2));
      const after = tenants[1]?.tenantId ?? newTenantId();
      assert.deepEqual(await context.store().listTenants({ slot, after, limit: 2 }, soon()), tenants.slice(2, 4));
      assert.deepEqual(await context.store().listTenants({ slot: newSlot(), limit: 2 }, soon()), []);
    });

    it('lists the counts of grants of a slot by tenant, page by page', async () => {
      const slot = newSlot();
      const rows = Array.from({ length: 5 }, (_, index) => ({
        tenantId: newTenantId(),
        seq: index,
        grants: 10 ** (3 * index),
        bytes: Number.MAX_SAFE_INTEGER - index,
      })).sort((left, right) => (left.tenantId < right.tenantId ? -1 : 1));
      const writes = rows.map((row) => ({ kind: 'grant-count', slot, row, stamp: STAMP }) as const);
      await context.store().writeState(writes.toReversed(), soon());
      assert.deepEqual(await context.store().listGrantCounts({ slot, limit: 100 }, soon()), rows);
      assert.deepEqual(await context.store().listGrantCounts({ slot, limit: 2 }, soon()), rows.slice(0, 2));
      const after = rows[1]?.tenantId ?? newTenantId();
      assert.deepEqual(await context.store().listGrantCounts({ slot, after, limit: 2 }, soon()), rows.slice(2, 4));
      assert.deepEqual(await context.store().listGrantCounts({ slot: newSlot(), limit: 2 }, soon()), []);
    });

    it('keeps version and revision of the rules in the record of a tenant, whatever its state', async () => {
      const slot = newSlot();
      const rules = { rulesVersion: 7, rulesRevision: '0123456789abcdef'.repeat(2) };
      const tenants = (['active', 'suspended', 'deleting'] as const)
        .map((state) => ({ tenantId: newTenantId(), name: 'T', plan: 'free', state, createdAtMs: 1, ...rules }))
        .sort((left, right) => (left.tenantId < right.tenantId ? -1 : 1));
      const writes = tenants.map((tenant) => ({ kind: 'tenant', slot, tenant, stamp: STAMP }) as const);
      await context.store().writeState(writes, soon());
      assert.deepEqual(await context.store().listTenants({ slot, limit: 10 }, soon()), tenants);
      const without = tenants.map(({ rulesRevision: _, ...tenant }) => tenant);
      const later = without.map((tenant) => ({ kind: 'tenant', slot, tenant, stamp: STAMP + 1 }) as const);
      await context.store().writeState([...later, ...writes], soon());
      assert.deepEqual(await context.store().listTenants({ slot, limit: 10 }, soon()), without);
    });

    it('keeps the readers in the record of a tenant: none, some, as many as it needs, or as its plan says', async () => {
      const slot = newSlot();
      const plain = { tenantId: newTenantId(), name: 'T', plan: 'free', state: 'active', createdAtMs: 1 } as const;
      const store = context.store();
      const records = [
        { ...plain, readers: 16 },
        plain,
        { ...plain, readers: 'auto' as const },
        { ...plain, readers: 0 },
      ];
      for (const [index, tenant] of records.entries()) {
        await store.writeState([{ kind: 'tenant', slot, tenant, stamp: STAMP + index }], soon());
        assert.deepEqual(await store.listTenants({ slot, limit: 10 }, soon()), [tenant]);
      }
    });

    it('reads a version of the rules of a tenant as written, of this tenant only', async () => {
      const tenantId = newTenantId();
      const read = (version: number, of = tenantId) => context.store().readRules(of, version, soon());
      const long = JSON.stringify({ rules: 'x'.repeat(64 * 1024) });
      assert.equal(await read(1), undefined);
      const second = createRulesWrite(tenantId, 2, { rules: long, stamp: STAMP + 1 });
      await context.store().writeState([second, createRulesWrite(tenantId, 1, { rules: '{}', stamp: STAMP })], soon());
      assert.deepEqual([await read(1), await read(2), await read(3)], ['{}', long, undefined]);
      assert.equal(await read(1, newTenantId()), undefined);
    });

    it('keeps the newest versions of the rules of a tenant, in whatever order they come', async () => {
      const tenantId = newTenantId();
      const list = async () => {
        const versions = await context.store().listRulesVersions(tenantId, soon());
        return versions.toSorted((left, right) => left.version - right.version);
      };
      assert.deepEqual(await list(), []);
      const writes = Array.from({ length: RULES_VERSIONS_MAX + 3 }, (_, index) =>
        createRulesWrite(tenantId, index + 1, { stamp: STAMP + index }),
      );
      const oldest = writes.slice(0, 3);
      await context.store().writeState(oldest, soon());
      assert.deepEqual(
        await list(),
        oldest.map(({ version }) => version),
      );
      await context.store().writeState(writes.toReversed(), soon());
      await context.store().writeState(oldest, soon());
      assert.deepEqual(
        await list(),
        writes.slice(3).map(({ version }) => version),
      );
      const read = (version: number) => context.store().readRules(tenantId, version, soon());
      assert.deepEqual([await read(3), await read(4)], [undefined, writes[3]?.rules]);
      assert.equal(await read(RULES_VERSIONS_MAX + 3), writes.at(-1)?.rules);
    });

    it('lists namespaces by name, of this tenant only', async () => {
      const tenantId = newTenantId();
      const write = (tenant: TenantId, name: string) =>
        ({ kind: 'namespace', tenantId: tenant, name, createdAtMs: name.length, stamp: STAMP }) as const;
      const names = ['user', 'doc', 'Zed', 'a.b-c_d', 'doc2'];
      await context
        .store()
        .writeState([...names.map((name) => write(tenantId, name)), write(newTenantId(), 'x')], soon());
      const expected = ['Zed', 'a.b-c_d', 'doc', 'doc2', 'user'].map((name) => ({ name, createdAtMs: name.length }));
      assert.deepEqual(await context.store().listNamespaces(tenantId, soon()), expected);
      assert.deepEqual(await context.store().listNamespaces(newTenantId(), soon()), []);
    });

    it('lists live keys by id with all that was written, of this tenant only', async () => {
      const tenantId = newTenantId();
      const keys = [
        createKeyRecord({ name: '', expiresAtMs: 1_900_000_000_000 }),
        createKeyRecord({ name: 'ключ 😀', scopes: 7, hash: '0f'.repeat(32) }),
        createKeyRecord({ rotatedFrom: newKeyId(), rotatedTo: newKeyId() }),
        createKeyRecord({ rotatedTo: newKeyId() }),
        createKeyRecord(),
      ].sort((left, right) => (left.keyId < right.keyId ? -1 : 1));
      const writes = keys.map((key) => ({ kind: 'key', tenantId, key, tombstone: false, stamp: STAMP }) as const);
      const tombstone = { kind: 'key', tenantId, key: createKeyRecord(), tombstone: true, stamp: STAMP } as const;
      const foreign = {
        kind: 'key',
        tenantId: newTenantId(),
        key: createKeyRecord(),
        tombstone: false,
        stamp: STAMP,
      } as const;
      await context.store().writeState([tombstone, foreign, ...writes.toReversed()], soon());
      const page = { keys, revoked: [tombstone.key.keyId], next: undefined };
      assert.deepEqual(await context.store().listKeys({ tenantId, limit: 100 }, soon()), page);
    });

    it('reads one key, while it is live', async () => {
      const tenantId = newTenantId();
      const [live, tombstone, foreign] = [
        createKeyRecord(),
        createKeyRecord({ expiresAtMs: undefined }),
        createKeyRecord(),
      ];
      const write = { kind: 'key', tenantId, stamp: STAMP } as const;
      await context.store().writeState(
        [
          { ...write, key: live, tombstone: false },
          { ...write, key: tombstone, tombstone: true },
          { ...write, tenantId: newTenantId(), key: foreign, tombstone: false },
        ],
        soon(),
      );
      const read = (keyId: typeof live.keyId) => context.store().readKey(tenantId, keyId, soon());
      assert.deepEqual(await read(live.keyId), live);
      for (const { keyId } of [tombstone, foreign, createKeyRecord()]) assert.equal(await read(keyId), undefined);
    });

    it('keeps the nearer end of a rotated key, and what it was rotated to, over an earlier write that comes later', async () => {
      const tenantId = newTenantId();
      const key = createKeyRecord();
      const former = { ...key, expiresAtMs: 1_900_000_000_000, rotatedTo: newKeyId() };
      const write = { kind: 'key', tenantId, tombstone: false } as const;
      await context.store().writeState([{ ...write, key: former, stamp: STAMP + 1 }], soon());
      await context.store().writeState([{ ...write, key, stamp: STAMP }], soon());
      assert.deepEqual(await context.store().readKey(tenantId, key.keyId, soon()), former);
    });

    it('lists keys page by page, looking at no more rows than it was told, however many are revoked', async () => {
      const tenantId = newTenantId();
      const keys = Array.from({ length: 10 }, () => createKeyRecord()).sort((left, right) =>
        left.keyId < right.keyId ? -1 : 1,
      );
      const writes = keys.map(
        (key, index) => ({ kind: 'key', tenantId, key, tombstone: index % 4 !== 3, stamp: STAMP }) as const,
      );
      await context.store().writeState(writes, soon());
      const idAt = (index: number) => keys[index]?.keyId ?? newKeyId();
      const list = (limit: number, after?: KeyId) =>
        context.store().listKeys({ tenantId, limit, ...(after === undefined ? {} : { after }) }, soon());
      assert.deepEqual(await list(3), { keys: [], revoked: [idAt(0), idAt(1), idAt(2)], next: idAt(2) });
      assert.deepEqual(await list(3, idAt(2)), { keys: [keys[3]], revoked: [idAt(4), idAt(5)], next: idAt(5) });
      assert.deepEqual(await list(4, idAt(5)), {
        keys: [keys[7]],
        revoked: [idAt(6), idAt(8), idAt(9)],
        next: idAt(9),
      });
      assert.deepEqual(await list(4, idAt(9)), { keys: [], revoked: [], next: undefined });
    });

    it('keeps usage at its places, each as it was written last', async () => {
      const tenantId = newTenantId();
      const read = async (from: number, to: number, of = tenantId) => {
        const rows = await context.store().readUsage({ tenantId: of, from, to }, soon());
        return new Map(rows.map(({ place, counts }) => [place, counts]));
      };
      const write = (atMs: number, ...rows: UsageRow[]) => context.store().writeUsage(tenantId, rows, atMs, soon());
      assert.deepEqual(await read(0, 1000), new Map());
      await write(2000, { place: 0, counts: '[[0,1,0,1]]' }, { place: 25, counts: 'x'.repeat(8192) });
      await write(3000, { place: 0, counts: 'later' }, { place: 900, counts: '' });
      await write(1000, { place: 0, counts: 'earlier' }, { place: 26, counts: 'new' });
      await context.store().writeUsage(newTenantId(), [{ place: 1, counts: 'of another tenant' }], 4000, soon());
      assert.deepEqual(
        await read(0, 26),
        new Map([
          [0, 'later'],
          [25, 'x'.repeat(8192)],
          [26, 'new'],
        ]),
      );
      assert.deepEqual([...(await read(26, 900)).keys()].sort(), [26, 900]);
      assert.deepEqual(await read(27, 899), new Map());
    });

    it('keeps when each key was last used, and never an earlier moment over a later one', async () => {
      const tenantId = newTenantId();
      const keyId = newKeyId();
      const other = newKeyId();
      const list = (...keyIds: KeyId[]) => context.store().listKeyUses(tenantId, keyIds, soon());
      assert.deepEqual(await list(keyId, other), new Map());
      await context.store().writeKeyUse(tenantId, keyId, 1_780_000_000_000, soon());
      await context.store().writeKeyUse(tenantId, keyId, 1_770_000_000_000, soon());
      await context.store().writeKeyUse(tenantId, other, 1_760_000_000_000, soon());
      await context.store().writeKeyUse(newTenantId(), keyId, 1_790_000_000_000, soon());
      assert.deepEqual(
        await list(keyId, newKeyId(), other),
        new Map([
          [keyId, 1_780_000_000_000],
          [other, 1_760_000_000_000],
        ]),
      );
      assert.deepEqual(await list(other), new Map([[other, 1_760_000_000_000]]));
      assert.deepEqual(await list(), new Map());
    });

    it('lists the audit log of a month by seq and index, page by page', async () => {
      const tenantId = newTenantId();
      const rows = [1, 2, 10].flatMap((seq) => [0, 1, 10].map((index) => auditLogRow(seq, index)));
      const writes = rows.map((row) => ({ kind: 'audit-log', tenantId, month: '2026-11', row, stamp: STAMP }) as const);
      const next = { kind: 'audit-log', tenantId, month: '2026-12', row: auditLogRow(11, 0), stamp: STAMP } as const;
      await context.store().writeState([next, ...writes.toReversed()], soon());
      const list = (month: string, limit: number, after?: { seq: number; index: number }) =>
        context.store().listAuditLog({ tenantId, month, limit, ...(after === undefined ? {} : { after }) }, soon());
      assert.deepEqual(await list('2026-11', 100), rows);
      assert.deepEqual(await list('2026-11', 4), rows.slice(0, 4));
      assert.deepEqual(await list('2026-11', 4, { seq: 2, index: 0 }), rows.slice(4, 8));
      assert.deepEqual(await list('2026-11', 4, { seq: 2, index: 10 }), rows.slice(6, 9));
      assert.deepEqual(await list('2026-11', 4, { seq: 10, index: 10 }), []);
      assert.deepEqual(await list('2026-12', 4), [next.row]);
      assert.deepEqual(await list('2027-01', 4), []);
      const back = (month: string, limit: number, after?: { seq: number; index: number }) =>
        context
          .store()
          .listAuditLog(
            { tenantId, month, limit, newestFirst: true, ...(after === undefined ? {} : { after }) },
            soon(),
          );
      assert.deepEqual(await back('2026-11', 100), rows.toReversed());
      assert.deepEqual(await back('2026-11', 4), rows.toReversed().slice(0, 4));
      assert.deepEqual(await back('2026-11', 4, { seq: 2, index: 1 }), rows.toReversed().slice(5, 9));
      assert.deepEqual(await back('2026-11', 4, { seq: 1, index: 0 }), []);
      // No change has a negative index: nothing of that seq is meant.
      assert.deepEqual(await back('2026-11', 1, { seq: 10, index: -1 }), rows.slice(5, 6));
      assert.deepEqual(await list('2026-11', 1, { seq: 10, index: -1 }), rows.slice(6, 7));
      // As many rows as reach the length, the one that does included.
      const lengthMax = rows.slice(0, 3).reduce((length, { change }) => length + change.length, 0);
      const short = { tenantId, month: '2026-11', limit: 100, lengthMax };
      assert.deepEqual(await context.store().listAuditLog(short, soon()), rows.slice(0, 3));
      assert.deepEqual(await context.store().listAuditLog({ ...short, lengthMax: 1 }, soon()), rows.slice(0, 1));
      const shortBack = { ...short, newestFirst: true, after: { seq: 2, index: 1 } };
      const backMax = rows.slice(2, 4).reduce((length, { change }) => length + change.length, -1);
      const found = await context.store().listAuditLog({ ...shortBack, lengthMax: backMax }, soon());
      assert.deepEqual(found, rows.slice(2, 4).toReversed());
      assert.deepEqual(await context.store().listAuditLog({ ...short, lengthMax: 1e9 }, soon()), rows);
      const query = { tenantId: newTenantId(), month: '2026-11', limit: 4 };
      assert.deepEqual(await context.store().listAuditLog(query, soon()), []);
    });
  });
}
