// What a tenant's audit log rests on in a store: an owner of its slot writes every kind of change, dies with some of
// them applied and some not, and the next one replays the log. Each change is in the audit log once.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hashApiKey } from '../../../src/core/api-keys.ts';
import { FairTurns } from '../../../src/core/async/turns.ts';
import type { AuditFilter } from '../../../src/core/audit-log.ts';
import { IdFactory } from '../../../src/core/ids.ts';
import { BUILT_IN_PLANS } from '../../../src/core/plans.ts';
import { systemClock, systemRandom } from '../../../src/roles/process/system.ts';
import { Lookups } from '../../../src/shard/log/hot-pages.ts';
import { purgeTenants } from '../../../src/shard/log/maintenance.ts';
import { QuietPromises } from '../../../src/shard/log/quiet-promises.ts';
import { claimSlot } from '../../../src/shard/log/recovery.ts';
import { Tenure } from '../../../src/shard/log/tenure.ts';
import { PAGE_LIMITS, READER_LIMITS } from '../../../src/shard/memory/limits.ts';
import { MemoryBudget } from '../../../src/shard/memory/memory-budget.ts';
import { Peers } from '../../../src/shard/peers/peers.ts';
import { noReadIndexes } from '../../../src/shard/readers/follow-tenant.ts';
import type { LoggedChange } from '../../../src/shard/shard.ts';
import { AUDIT_LOG_KEPT_DAYS, type Store } from '../../../src/store/store.ts';
import { createProcessClock } from '../../kit/process-clock.ts';
import { consoleMethods } from '../../kit/shard-methods.ts';
import { readAll } from '../../kit/store/read-all.ts';
import { newIncarnation, newSlot, soon } from '../../kit/store/store-fixtures.ts';
import type { StoreContext } from './store-contract.ts';

const SEGMENT_SIZE = 8;
const DAY_MS = 24 * 3_600_000;
const SECRETS = [systemRandom.bytes(32)] as const;
const ids = new IdFactory(systemClock, systemRandom);

const attempt = () => ({ requestId: ids.create('req'), expiresAtMs: soon() });

/** An owner of the slot, whoever had it before. */
async function openOwner(store: Store, slot: number, time: { wallMs?: () => number; aheadMs?: () => number } = {}) {
  const clock = createProcessClock(time.wallMs, time.aheadMs);
  const owner = newIncarnation();
  const known = await store.readSlot(slot, soon());
  const { row } = await claimSlot({ store, clock }, { slot, owner, known }, async () => true);
  assert.ok(row !== undefined, 'the slot was claimed');
  const tenure = new Tenure(row, owner, {
    store,
    clock,
    ids,
    budget: new MemoryBudget(1_000_000, new FairTurns(clock)),
    pageLimits: PAGE_LIMITS,
    readerLimits: READER_LIMITS,
    segmentSize: SEGMENT_SIZE,
    operationsKeptMs: 20_000,
    leaseValid: () => true,
    leaseLeftMs: () => Number.POSITIVE_INFINITY,
    promises: new QuietPromises(clock).of(slot),
    observeAppend: () => {},
    observeState: () => {},
    observePreload: () => {},
    observeWait: () => {},
    onLost: () => {},
  });
  await tenure.open();
  const peers = new Peers({
    store,
    clock,
    ids,
    plans: BUILT_IN_PLANS,
    secrets: SECRETS,
    slots: 1,
    segmentSize: SEGMENT_SIZE,
    tenureOf: () => tenure,
    tenures: () => new Map([[tenure.slot, tenure]]),
    members: async () => [],
    report: () => ({ incarnation: owner, shardName: 'shard-1', leaseLeftMs: undefined, rows: [] }),
    readers: { open: () => Promise.reject(new Error('There is no other shard.')), list: () => [] },
    readIndexes: noReadIndexes(),
    lookups: new Lookups(),
    deadlineMs: 10_000,
    busiest: () => undefined,
    readersOf: () => 0,
    onRefused: () => {},
  });
  const { tenant: connection, operator } = consoleMethods(peers.connectConsole());
  return { tenure, clock, connection, operator };
}

export function defineAuditLogContract(context: StoreContext): void {
  describe('the audit log', () => {
    it('has every change once, from either end, after an owner that died and one that replayed', async () => {
      const store = context.store();
      const slot = newSlot();
      const tenantId = ids.create('ten');
      const keyId = ids.create('key');
      const hash = hashApiKey('secret');
      const tuple = { subject: 'user:ann', relation: 'viewer', object: 'doc:1' } as const;
      const update = { tenantId, name: undefined, plan: undefined, state: undefined, operator: 'bob' };

      const first = await openOwner(store, slot);
      await first.operator.createTenant(attempt(), { tenantId, name: 'Acme', plan: 'free', operator: 'ann' });
      const { handle } = await first.operator.authenticateOperator({ tenantId, operator: 'ann' });
      await first.connection.createKey(handle, attempt(), {
        keyId,
        name: 'ci',
        scopes: 1,
        expiresAtMs: undefined,
        hash,
      });
      await first.connection.createNamespace(handle, attempt(), 'team');
      const by = attempt();
      await first.connection.writeGrants(handle, by, [{ ...tuple, revoke: false }]);
      // Applied, but hardly behind a checkpoint: the next owner applies it again.
      await first.tenure.applied();
      await first.connection.writeGrants(handle, attempt(), [{ ...tuple, revoke: true }]);
      await first.connection.revokeKey(handle, attempt(), keyId);
      first.clock.kill();

      const second = await openOwner(store, slot);
      const again = await second.operator.authenticateOperator({ tenantId, operator: 'ann' });
      const [repeated] = await second.connection.writeGrants(again.handle, by, [{ ...tuple, revoke: false }]);
      assert.equal(repeated?.kind, 'created');
      await second.operator.updateTenant(attempt(), { ...update, plan: 'scale', state: 'suspended' });
      await second.operator.updateTenant(attempt(), { ...update, state: 'deleting' });
      const { clock } = second;
      const createRequestId = () => ids.create('req');
      const ports = { store, clock, segmentSize: SEGMENT_SIZE, logRetentionMs: 0, createRequestId };
      // A round is bounded in time.
      const isDeleting = () => [...second.tenure.tenants.values()].some(({ tenant }) => tenant.state === 'deleting');
      while (isDeleting()) await purgeTenants(ports, second.tenure);
      second.clock.kill();

      const third = await openOwner(store, slot);
      const list = (newestFirst: boolean, limit: number) =>
        readAll((cursor) => third.operator.listAuditLog({ tenantId, limit, cursor, newestFirst }));
      const auditLog = await list(false, 100);
      const told = auditLog.map(({ actor, change }) => {
        const { action, object, name, state } = JSON.parse(change);
        return `${actor} ${action} ${state ?? object ?? name}`;
      });
      assert.deepEqual(told, [
        'operator:ann tenant.created active',
        'operator:ann key.created ci',
        'operator:ann namespace.created team',
        'operator:ann namespace.created user',
        'operator:ann namespace.created doc',
        'operator:ann grant.created doc:1',
        'operator:ann grant.revoked doc:1',
        'operator:ann key.revoked ci',
        'operator:bob tenant.updated suspended',
        'operator:bob tenant.updated deleting',
        'system tenant.updated deleted',
      ]);
      assert.ok(!JSON.stringify(auditLog).includes(hash), 'no secret is told');
      assert.deepEqual(await list(false, 2), auditLog);
      assert.deepEqual(await list(true, 3), auditLog.toReversed());
      const exported: LoggedChange[] = [];
      for (let page = await third.operator.readLog({ slot, afterSeq: 0, sinceMs: 0 }); ; ) {
        exported.push(...page.items);
        if (page.atEnd) break;
        page = await third.operator.readLog({ slot, afterSeq: page.nextSeq, sinceMs: 0 });
      }
      assert.deepEqual(
        exported,
        auditLog.map((row) => ({ tenantId, ...row })),
        'the log of the slot tells the same',
      );
      // A filter looks at rows as the store gives them back.
      const filtered = (filter: AuditFilter, limit: number, newestFirst: boolean) =>
        readAll((cursor) => third.operator.listAuditLog({ tenantId, limit, cursor, newestFirst, ...filter }));
      const [, , , , , granted, revoked] = auditLog;
      assert.ok(granted !== undefined && revoked !== undefined);
      for (const [filter, expected] of [
        [{ subject: 'user:ann' }, [granted, revoked]],
        [{ object: 'doc:1', action: 'grant.revoked' }, [revoked]],
        [{ requestId: by.requestId }, auditLog.filter(({ requestId }) => requestId === by.requestId)],
        [{ actor: 'operator:bob' }, auditLog.filter(({ actor }) => actor === 'operator:bob')],
        [{ actor: 'system', subject: 'user:ann' }, []],
      ] as const) {
        assert.deepEqual(await filtered(filter, 100, false), expected);
        assert.deepEqual(await filtered(filter, 1, true), expected.toReversed());
      }
      third.tenure.end('The test is over.');
      third.clock.kill();
    });

    it('refuses a cursor of the change feed from before what the store keeps, never one within it', async () => {
      const store = context.store();
      const tenantId = ids.create('ten');
      let passedDays = 0;
      let aheadMs = 0;
      const wallMs = () => Date.now() + passedDays * DAY_MS;
      const owner = await openOwner(store, newSlot(), { wallMs, aheadMs: () => aheadMs });
      const { operator, connection } = owner;
      await operator.createTenant(attempt(), { tenantId, name: 'Acme', plan: 'free', operator: 'ann' });
      const { handle } = await operator.authenticateOperator({ tenantId, operator: 'ann' });
      const read = (cursor?: string) => connection.readChanges(handle, { limit: 10, waitMs: 0, cursor });
      const demandBound = async (days: number) => {
        assert.equal(await store.readAuditLogKeptMs(soon()), days * DAY_MS);
        const { nextCursor } = await read();
        passedDays += days - 2;
        await read(nextCursor);
        passedDays += 2;
        await assert.rejects(read(nextCursor), { code: 'cursor-too-old' });
      };
      await demandBound(AUDIT_LOG_KEPT_DAYS);
      const changed = context.keepAuditLogFor(30 * 86_400);
      if (changed !== undefined) {
        await changed;
        try {
          // What is known of the table counts for a minute.
          aheadMs += 60_000;
          await demandBound(30);
        } finally {
          await context.keepAuditLogFor(AUDIT_LOG_KEPT_DAYS * 86_400);
        }
      }
      owner.tenure.end('The test is over.');
      owner.clock.kill();
    });
  });
}
