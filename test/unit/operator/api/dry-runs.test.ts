// With `dry_run`, nothing is done, and the answer says what would be.

import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { BUILT_IN_PLANS } from '../../../../src/core/plans.ts';
import type { OperatorOperation } from '../../../../src/operator/api/operation.ts';
import { createOperatorOperations } from '../../../../src/operator/api/operation-table.ts';
import { useConsole } from '../../../kit/console-service.ts';
import { assertProblem, callOperator, type Reply } from '../operator-call.ts';

/** No tenant of the tests fits into this plan. */
const standard = {
  ...(BUILT_IN_PLANS.get('standard') ?? assert.fail('there is such a plan')),
  namespacesMax: 1,
  keysMax: 0,
  grantsMax: 0,
};
const service = await useConsole({ plans: new Map(BUILT_IN_PLANS).set('standard', standard) });
const OPERATIONS = createOperatorOperations();
const TUPLE = { subject: 'user:ada', relation: 'viewer', object: 'document:plan' };

let tenantId: string;
let keyId: string;
const call = (method: string, path: string, body?: unknown): Promise<Reply> =>
  callOperator(service.url, method, path, body);
const auditLog = async (): Promise<unknown> => (await call('GET', `/tenants/${tenantId}/audit-log`)).body.entries;

beforeEach(async () => {
  tenantId = (await call('POST', '/tenants', { name: 'Acme', plan: 'scale' })).body.tenant_id;
  keyId = (await call('POST', `/tenants/${tenantId}/keys`, { scopes: ['check:read'] })).body.key_id;
  await call('POST', `/tenants/${tenantId}/grants`, TUPLE);
});

const pathOf = ({ path }: OperatorOperation): string =>
  path.replace('{tenantId}', tenantId).replace('{key_id}', keyId).replace('{version}', '1').replace('{slot}', '0');

function send(operation: OperatorOperation, query: string): Promise<Reply> {
  const { method, body } = operation;
  const headers = body === undefined ? {} : { 'Content-Type': body.contentType ?? 'application/json' };
  return callOperator(service.url, method, `${pathOf(operation)}?${query}`, body?.example, headers);
}

describe('a dry run', () => {
  const dry = OPERATIONS.filter(({ query = {} }) => 'dry_run' in query);

  test('is offered where an operator can change much at once', () => {
    assert.deepEqual(
      dry.map(({ id }) => id),
      ['updateTenant', 'deleteTenant', 'revokeGrants', 'writeRules', 'repairTime'],
    );
  });

  for (const operation of dry) {
    test(`of ${operation.id} changes nothing and leaves no entry in the audit log`, async () => {
      const before = [await auditLog(), (await call('GET', `/tenants/${tenantId}`)).body];
      assert.equal((await send(operation, 'dry_run=true')).status, 200);
      assertProblem(await send(operation, 'dry_run=1'), 400, 'invalid-request', /"dry_run" must be true or false/);
      assertProblem(await send(operation, 'dry_run'), 400, 'invalid-request', /"dry_run" must be true or false/);
      assert.deepEqual([await auditLog(), (await call('GET', `/tenants/${tenantId}`)).body], before);
    });

    test(`of ${operation.id} needs the same access and the same tenant as the call itself`, async () => {
      assert.equal(operation.access ?? 'full', 'full');
      if (!operation.path.includes('{tenantId}')) return;
      await call('DELETE', `/tenants/${tenantId}`);
      await service.operator.finishDeletions();
      assertProblem(await send(operation, 'dry_run=true'), 404, 'tenant-not-found');
    });
  }

  test('of a deletion shows the tenant with what would be deleted', async () => {
    const { body, status } = await call('DELETE', `/tenants/${tenantId}?dry_run=true`);
    assert.equal(status, 200);
    assert.deepEqual(body, (await call('GET', `/tenants/${tenantId}`)).body);
    assert.deepEqual([body.state, body.grants, body.counts], ['active', 1, { namespaces: 2, keys: 1 }]);
    assert.equal((await call('DELETE', `/tenants/${tenantId}?dry_run=false`)).body.state, 'deleting');
    assert.equal((await call('DELETE', `/tenants/${tenantId}?dry_run=true`)).body.state, 'deleting');
    assertProblem(await call('PATCH', `/tenants/${tenantId}?dry_run=true`, { plan: 'free' }), 404, 'tenant-not-found');
  });

  test('of a change shows the tenant as it would be, and each limit that it would exceed', async () => {
    const change = { plan: 'standard', name: 'Other', readers: 2 };
    assert.deepEqual((await call('PATCH', `/tenants/${tenantId}?dry_run=true`, { plan: 'free' })).body.exceeded, []);
    const previewed = (await call('PATCH', `/tenants/${tenantId}?dry_run=true`, change)).body;
    assert.deepEqual(previewed.exceeded, ['namespaces_max', 'keys_max', 'grants_max']);
    assert.equal((await call('GET', `/tenants/${tenantId}`)).body.plan, 'scale');
    assertProblem(await call('PATCH', `/tenants/${tenantId}?dry_run=true`, {}), 400, 'invalid-request');
    assertProblem(await call('PATCH', `/tenants/${tenantId}?dry_run=true`, { plan: 'x' }), 400, 'invalid-request');
    await call('PATCH', `/tenants/${tenantId}`, change);
    const { exceeded: _, ...promised } = previewed;
    assert.deepEqual((await call('GET', `/tenants/${tenantId}`)).body, promised);
  });
});
