// Encodes a batch of state writes in the flat form in which it travels to the writer. It also computes the bucket of a
// subject, which is part of the row's key.

import { assertNever } from '../../core/assert.ts';
import { grantColumnValues } from '../../core/grant-attributes.ts';
import { bucketOfSubject } from '../../core/slots.ts';
import { encodeTenantState } from '../../core/tenants.ts';
import type { GrantWrite, StateWrite } from '../store.ts';
import type { StateBatch, Value } from './messages.ts';

function addGrant(values: Value[], write: GrantWrite): void {
  values.push(write.tenantId, write.subject, write.relation, write.object);
  for (const value of grantColumnValues(write)) values.push(value);
  values.push(write.tombstone ? 1 : 0, write.stamp);
}

function addWrite(batch: StateBatch, write: StateWrite): void {
  switch (write.kind) {
    case 'grant':
      addGrant(batch.grants, write);
      return;
    case 'expiry':
      batch.expiries.push(write.tenantId, bucketOfSubject(write.subject), write.expiresAtMs);
      batch.expiries.push(write.subject, write.relation, write.object, write.stamp);
      return;
    case 'subject':
      batch.subjects.push(write.tenantId, bucketOfSubject(write.subject), write.subject, write.stamp);
      return;
    case 'namespace':
      batch.namespaces.push(write.tenantId, write.name, write.createdAtMs, write.stamp);
      return;
    case 'key':
      batch.keys.push(write.tenantId, write.key.keyId, write.key.name, write.key.scopes, write.key.createdAtMs);
      batch.keys.push(write.key.expiresAtMs ?? null, write.key.hash, write.tombstone ? 1 : 0);
      batch.keys.push(write.key.rotatedFrom ?? null, write.key.rotatedTo ?? null, write.stamp);
      return;
    case 'tenant':
      batch.tenants.push(write.slot, write.tenant.tenantId, write.tenant.name, write.tenant.plan);
      batch.tenants.push(encodeTenantState(write.tenant), write.tenant.createdAtMs, write.stamp);
      return;
    case 'rules':
      batch.rules.push(write.tenantId, write.rules, write.stamp);
      return;
    case 'audit-log':
      batch.auditLog.push(write.tenantId, write.month, write.row.seq, write.row.index, write.row.atMs);
      batch.auditLog.push(write.row.actor, write.row.requestId, write.row.change, write.stamp);
      return;
    case 'grant-count':
      batch.grantCounts.push(write.slot, write.row.tenantId, write.row.seq, write.row.grants, write.row.bytes);
      batch.grantCounts.push(write.row.collectedToMs ?? null, write.stamp);
      return;
    default:
      assertNever(write);
  }
}

export function toStateBatch(writes: readonly StateWrite[]): StateBatch {
  const batch: StateBatch = {
    subjects: [],
    grants: [],
    expiries: [],
    namespaces: [],
    keys: [],
    tenants: [],
    rules: [],
    auditLog: [],
    grantCounts: [],
  };
  for (const write of writes) addWrite(batch, write);
  return batch;
}
