// All calls between front and shard: one for each field of `Call`. A field without a row here does not compile.

import type { Call__Output } from '../gen/grantd/v1/Call.ts';
import { WireViolation } from '../wire-violation.ts';
import { authenticate } from './authenticate.ts';
import { authenticateOperator } from './authenticate-operator.ts';
import { checkBulk } from './check-bulk.ts';
import { checkNamed } from './check-named.ts';
import { confirm } from './confirm.ts';
import { createKey } from './create-key.ts';
import { createNamespace } from './create-namespace.ts';
import { createTenant } from './create-tenant.ts';
import type { CallField, DefinedCall } from './define-call.ts';
import { exportGrants } from './export-grants.ts';
import { findTenants } from './find-tenants.ts';
import { identifyKey } from './identify-key.ts';
import { listAuditLog } from './list-audit-log.ts';
import { listGrants } from './list-grants.ts';
import { listHolders } from './list-holders.ts';
import { listKeys } from './list-keys.ts';
import { listLogEnds } from './list-log-ends.ts';
import { listMembers } from './list-members.ts';
import { listNames } from './list-names.ts';
import { listNamespaces } from './list-namespaces.ts';
import { listObjects } from './list-objects.ts';
import { listSlots } from './list-slots.ts';
import { listSubjects } from './list-subjects.ts';
import { listTenants } from './list-tenants.ts';
import { previewRules } from './preview-rules.ts';
import { readChanges } from './read-changes.ts';
import { readLoad } from './read-load.ts';
import { readLog } from './read-log.ts';
import { readRules } from './read-rules.ts';
import { readTenant } from './read-tenant.ts';
import { readUsage } from './read-usage.ts';
import { revokeGrants } from './revoke-grants.ts';
import { revokeKey } from './revoke-key.ts';
import { rotateKey } from './rotate-key.ts';
import { unknownNamespaces } from './unknown-namespaces.ts';
import { updateTenant } from './update-tenant.ts';
import { writeBulk } from './write-bulk.ts';
import { writeGrants } from './write-grants.ts';
import { writeRules } from './write-rules.ts';

/** A call with any request and any result. */
export type AnyCall = DefinedCall<CallField, never, unknown>;

export const CALLS = Object.freeze({
  authenticate,
  authenticateOperator,
  confirm,
  checkBulk,
  checkNamed,
  writeGrants,
  writeBulk,
  revokeGrants,
  listObjects,
  listHolders,
  listGrants,
  listNames,
  listNamespaces,
  unknownNamespaces,
  createNamespace,
  createKey,
  listKeys,
  revokeKey,
  readRules,
  writeRules,
  previewRules,
  readChanges,
  createTenant,
  updateTenant,
  readUsage,
  readTenant,
  findTenants,
  listTenants,
  listSubjects,
  listAuditLog,
  listLogEnds,
  readLog,
  rotateKey,
  identifyKey,
  exportGrants,
  readLoad,
  listSlots,
  listMembers,
} satisfies { readonly [Field in CallField]: DefinedCall<Field, never, unknown> });

/** The call that a peer makes. Throws WireViolation. */
export function callOf({ request }: Call__Output): AnyCall {
  if (request === undefined) throw new WireViolation('A call lacks its request.');
  return CALLS[request];
}
