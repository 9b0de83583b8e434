// Every operation of the operator's API, registered once: those that operators alone have, those of the public
// interface under a tenant, and the description of all of them, which is one of them.

import { z } from 'zod';
import { readOpenapi } from '../../http/operation-table.ts';
import { check, checkBulk } from '../../http/operations/checks.ts';
import { createGrant, listGrants, revokeGrant, revokeGrants, writeBulk } from '../../http/operations/grants.ts';
import { createKey, revokeKey } from '../../http/operations/keys.ts';
import {
  listSubjects as listHolders,
  listSubjectsInContext as listHoldersInContext,
  listObjects,
  listObjectsInContext,
} from '../../http/operations/listings.ts';
import { createNamespace, listNamespaces } from '../../http/operations/namespaces.ts';
import { readRules, writeRules } from '../../http/operations/rules.ts';
import { listRulesVersions, readRulesVersion } from '../../http/operations/rules-versions.ts';
import { success } from '../../http/schema/operation-description.ts';
import { type OperatorOperation, withinTenant } from './operation.ts';
import { createExportAuditLog, listAuditLog } from './operations/audit-log.ts';
import { listChanges } from './operations/changes.ts';
import { listLoads, listMembers, listPlans, listSlots, repairTime } from './operations/cluster.ts';
import { exportGrants, importGrants } from './operations/import-export.ts';
import { identifyKey, listKeys, readKey, rotateKey } from './operations/keys.ts';
import { listSubjects } from './operations/subjects.ts';
import { createTenant, deleteTenant, listTenants, readTenant, readUsage, updateTenant } from './operations/tenants.ts';

const documentSchema = z.looseObject({ openapi: z.string(), info: z.looseObject({ version: z.string() }) });

export const createOperatorOperations = (): readonly OperatorOperation[] => [
  createTenant,
  listTenants,
  readTenant,
  updateTenant,
  deleteTenant,
  readUsage,
  withinTenant(createKey),
  listKeys,
  readKey,
  rotateKey,
  identifyKey,
  withinTenant(revokeKey, { description: 'Requests with it that start after the response are refused everywhere.' }),
  withinTenant(check),
  withinTenant(createGrant),
  withinTenant(revokeGrant),
  withinTenant(listGrants),
  withinTenant(listObjects),
  withinTenant(listObjectsInContext),
  withinTenant(listHolders, { id: 'listHolders', path: '/holders' }),
  withinTenant(listHoldersInContext, { id: 'listHoldersInContext', path: '/holders' }),
  withinTenant(checkBulk),
  withinTenant(writeBulk),
  withinTenant(revokeGrants),
  withinTenant(listNamespaces),
  withinTenant(createNamespace),
  withinTenant(readRules),
  withinTenant(writeRules),
  withinTenant(listRulesVersions),
  withinTenant(readRulesVersion),
  listSubjects,
  listAuditLog,
  createExportAuditLog(),
  listChanges,
  importGrants,
  exportGrants,
  listPlans,
  listSlots,
  repairTime,
  listLoads,
  listMembers,
  {
    ...readOpenapi,
    successes: [success(200, 'An OpenAPI 3.1 document.', { name: 'OpenapiDocument', schema: documentSchema })],
    tag: 'The cluster',
    access: 'read-only',
    answer: (_session, _context, _request, { openapiText }) => Promise.resolve({ status: 200, json: openapiText }),
  },
];
