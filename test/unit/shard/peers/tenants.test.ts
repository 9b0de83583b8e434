// What an owner tells of its tenants, how they are found among many, and what becomes of changes that meet.

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import type { TenantId } from '../../../../src/core/ids.ts';
import { slotOfTenant } from '../../../../src/core/slots.ts';
import type { Tenant } from '../../../../src/core/tenants.ts';
import { parseRuleSet } from '../../../../src/rules/parse-rule-set.ts';
import { RulesText } from '../../../../src/rules/rules-text.ts';
import { HARNESS_META, ShardHarness } from '../../../kit/shard-harness.ts';
import { attempt, createMemoryStore, OpenSlot, openSlot, openWithTenants, tuple, waitFor } from '../tools.ts';

test('changes of two operators that meet are both in force, the last of each field, and nothing is mixed up', async () => {
  const slot = await OpenSlot.open(await createMemoryStore());
  const [tenantId, other] = [await slot.createTenant('free'), await slot.createTenant('free')];
  const handle = await slot.handle(tenantId);
  const changes = [
    { tenantId, name: 'Ann', operator: 'ann' },
    { tenantId, plan: 'scale', operator: 'bob' },
    { tenantId: other, name: 'Other', operator: 'bob' },
    { tenantId, name: 'Bob', operator: 'bob' },
    { tenantId, state: 'suspended' as const, operator: 'ann' },
  ];
  const grant = () => slot.grant(handle, tuple('user:1', 'doc:1'));
  const calls = await slot.inOneEntry(grant, ...changes.map((change) => () => slot.update(change)));
  const answers = await Promise.all(calls);
  assert.deepEqual(
    answers.map(({ name, plan, state }) => [name, plan, state]),
    [
      ['Ann', 'free', 'active'],
      ['Ann', 'scale', 'active'],
      ['Other', 'free', 'active'],
      ['Bob', 'scale', 'active'],
      ['Bob', 'scale', 'suspended'],
    ],
  );
  const heir = await slot.restart();
  const { name, plan, state } = await heir.operator.readTenant({ tenantId });
  assert.deepEqual([name, plan, state], ['Bob', 'scale', 'suspended']);
  const auditLog = await heir.operator.listAuditLog({ tenantId, limit: 100, cursor: undefined });
  const seen = auditLog.items.map(({ actor, change }) => [actor, JSON.parse(change)]);
  assert.deepEqual(
    seen.filter(([, { action }]) => action === 'tenant.updated').map(([actor, change]) => [actor, change.name]),
    [
      ['operator:ann', 'Ann'],
      ['operator:bob', 'Ann'],
      ['operator:bob', 'Bob'],
      ['operator:ann', 'Bob'],
    ],
  );
});

test('the operator’s number of readers stays with the tenant through other changes, restarts and its own end', async () => {
  const slot = await OpenSlot.open(await createMemoryStore());
  const tenantId = await slot.createTenant('free');
  assert.equal((await slot.update({ tenantId, readers: 3 })).readers, 3);
  assert.equal((await slot.update({ tenantId, plan: 'scale' })).readers, 3);
  const ruleSet = parseRuleSet({ rules: [], groups: true });
  await slot.connection.writeRules(await slot.handle(tenantId), attempt(), {
    rules: RulesText.of(ruleSet),
    ifMatch: undefined,
  });
  assert.equal((await slot.update({ tenantId, readers: 3 })).readers, 3);
  const heir = await slot.restart();
  assert.equal((await heir.operator.readTenant({ tenantId })).readers, 3);
  assert.equal((await heir.update({ tenantId, readers: 'auto' })).readers, 'auto');
  await heir.applied();
  const next = await heir.restart();
  assert.equal((await next.operator.readTenant({ tenantId })).readers, 'auto');
  assert.equal((await next.update({ tenantId, readers: 0 })).readers, 0);
  assert.ok(!('readers' in (await next.update({ tenantId, readers: null }))));
  const last = await next.restart();
  assert.ok(!('readers' in (await last.operator.readTenant({ tenantId }))));
  const { items } = await last.operator.listAuditLog({ tenantId, limit: 100, cursor: undefined });
  const changes = items.map(({ change }) => JSON.parse(change));
  assert.deepEqual(
    changes.filter(({ action }) => action === 'tenant.updated').map(({ plan, readers }) => [plan, readers]),
    [
      ['free', 3],
      ['scale', 3],
      ['scale', 'auto'],
      ['scale', 0],
      ['scale', undefined],
    ],
  );
});

test('a deletion that meets another change is the last word', async () => {
  const slot = await OpenSlot.open(await createMemoryStore());
  const tenantId = await slot.createTenant('free');
  const handle = await slot.handle(tenantId);
  const [deleted, ...late] = await slot.inOneEntry(
    () => slot.grant(handle, tuple('user:1', 'doc:1')),
    () => slot.update({ tenantId, state: 'deleting' }),
    () => slot.update({ tenantId, state: 'active' }),
    () => slot.update({ tenantId, name: 'Late' }),
  );
  assert.equal((await deleted).state, 'deleting');
  for (const each of late) await assert.rejects(each, { code: 'tenant-not-found' });
  assert.equal((await slot.update({ tenantId, state: 'deleting' })).state, 'deleting');
});

test('a tenant is shown with the number of its namespaces and keys, after a restart, too', async () => {
  const { slot, tenantId, handle } = await openSlot();
  assert.deepEqual((await slot.operator.readTenant({ tenantId })).counts, { namespaces: 0, keys: 0 });
  await slot.grant(handle, tuple('user:1', 'doc:1'));
  const { keyId } = await slot.createKey(handle, tenantId);
  await slot.createKey(handle, tenantId);
  await slot.connection.revokeKey(handle, attempt(), keyId);
  assert.deepEqual((await slot.operator.readTenant({ tenantId })).counts, { namespaces: 2, keys: 1 });
  await slot.tenure.checkpointed();
  const heir = await slot.restart();
  // A listing reads nothing.
  const [listed] = await heir.operator.listTenants({ after: undefined, limit: 10 });
  assert.deepEqual([listed?.tenantId, listed?.counts], [tenantId, undefined]);
  assert.deepEqual((await heir.operator.readTenant({ tenantId })).counts, { namespaces: 2, keys: 1 });
});

test('a store that does not answer withholds the counts, not the tenant', async () => {
  const slot = await OpenSlot.open(await createMemoryStore());
  const tenantId = await slot.createTenant();
  slot.faults.turn('hold', ['listKeys', 'listNamespaces']);
  const startedAtMs = performance.now();
  const tenant = await slot.operator.readTenant({ tenantId });
  assert.deepEqual([tenant.tenantId, tenant.counts], [tenantId, undefined]);
  assert.ok(performance.now() - startedAtMs < 5000, 'long before the store would have failed the call');
});

async function findAll(slot: OpenSlot, name: string, limit: number) {
  const found: string[] = [];
  let after: string | undefined;
  let pages = 0;
  do {
    const page = await slot.operator.findTenants({ name, after, limit });
    assert.ok(page.tenants.length <= limit);
    found.push(...page.tenants.map(({ tenantId }) => tenantId));
    assert.ok(page.scannedTo === undefined || page.scannedTo > (after ?? ''), 'a search comes further with each page');
    after = page.scannedTo;
    pages += 1;
  } while (after !== undefined);
  return { found, pages };
}

test('a search finds a part of a name or an id, in any case, each tenant once, in the order of the ids', async () => {
  const { slot, tenants } = await openWithTenants(50);
  const idsWhere = (matches: (tenant: Tenant) => boolean) =>
    tenants
      .filter(matches)
      .map(({ tenantId }) => tenantId)
      .sort();
  for (const limit of [1, 7, 1000]) {
    const acme = idsWhere(({ name }) => name.toLowerCase().startsWith('acme'));
    assert.deepEqual((await findAll(slot, 'ACME', limit)).found, acme);
    const doctors = idsWhere(({ name }) => name.startsWith('ÄRZTE'));
    assert.deepEqual((await findAll(slot, 'ärzte E.', limit)).found, doctors);
  }
  const [one] = tenants;
  assert.ok(one);
  assert.deepEqual((await findAll(slot, one.tenantId.toUpperCase(), 10)).found, [one.tenantId]);
  assert.deepEqual(await findAll(slot, 'nobody', 10), { found: [], pages: 1 });
});

test('10,000 tenants are searched with a bounded number of names per page, and listed page by page', async () => {
  const { slot, ids: sorted, tenants } = await openWithTenants(10_000);
  const last = sorted.at(-1) ?? assert.fail();
  const { found, pages } = await findAll(slot, last, 100);
  assert.deepEqual(found, [last]);
  assert.ok(pages >= 5 && pages <= 6, `${pages} pages`);
  const bolts = tenants.filter(({ name }) => name.startsWith('Bolt')).length;
  assert.equal((await findAll(slot, 'bolt', 1000)).found.length, bolts);
  const listed: string[] = [];
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page: readonly Tenant[] = await slot.operator.listTenants({ after, limit: 1000 });
    listed.push(...page.map(({ tenantId }) => tenantId));
    after = page.at(-1)?.tenantId;
  }
  assert.deepEqual(listed, sorted);
  const lookups = mock.method(slot.tenure.tenants, 'get');
  const walks = mock.method(slot.tenure.tenants, 'values');
  await slot.operator.listTenants({ after: sorted[5000], limit: 100 });
  assert.deepEqual([lookups.mock.callCount(), walks.mock.callCount()], [100, 0], 'a page visits only its own tenants');
});

test('a listing merges the tenants of several slots, from after any id on, and leaves out those that are gone', async (t) => {
  const harness = new ShardHarness({ maintenanceMs: 10 });
  t.after(() => harness.killAll());
  const shard = await harness.start();
  const tenants = new Set<TenantId>();
  for (let index = 0; index < 30; index += 1) tenants.add(await harness.createTenant(shard));
  assert.equal(new Set(Array.from(tenants, (id) => slotOfTenant(id, HARNESS_META.slots))).size, HARNESS_META.slots);
  const assertListed = async (): Promise<void> => {
    const sorted = [...tenants].sort();
    for (const limit of [1, 7, 100]) {
      for (const [index, after] of ['', ...sorted].entries()) {
        const page = await shard.operator.listTenants({ after, limit });
        assert.deepEqual(
          page.map(({ tenantId }) => tenantId),
          sorted.slice(index, index + limit),
        );
      }
    }
  };
  await assertListed();
  const gone = [...tenants].filter((_, index) => index % 3 === 0);
  for (const tenantId of gone) {
    await shard.operator.updateTenant(harness.attempt(), { tenantId, state: 'deleting', operator: 'test' });
    tenants.delete(tenantId);
  }
  const isGone = async () => (await shard.operator.listTenants({ after: '', limit: 100 })).length === tenants.size;
  await waitFor(isGone);
  await assertListed();
});
