// Every operation of the operator's API, registered once, and the description of all of them, which is one of them.

import { z } from 'zod';
import { success } from '../../http/schema/operation-description.ts';
import { type OperatorOperation, reading } from './operation.ts';
import { createExportAuditLog, listAuditLog } from './operations/audit-log.ts';
import { listChanges } from './operations/changes.ts';
import { listLoads, listMembers, listPlans, listSlots, repairTime } from './operations/cluster.ts';
import {
  check,
  checkBulk,
  createGrant,
  listGrants,
  listHolders,
  listHoldersInContext,
  listObjects,
  listObjectsInContext,
  listSubjects,
  revokeGrant,
  revokeGrants,
  writeBulk,
} from './operations/grants.ts';
import { exportGrants, importGrants } from './operations/import-export.ts';
import { createKey, identifyKey, listKeys, readKey, revokeKey, rotateKey } from './operations/keys.ts';
import { createNamespace, listNamespaces, readRules, writeRules } from './operations/namespaces-and-rules.ts';
import { listRulesVersions, readRulesVersion } from './operations/rules-versions.ts';
import { createTenant, deleteTenant, listTenants, readTenant, readUsage, updateTenant } from './operations/tenants.ts';
import { createOperatorOpenapi } from './operator-openapi.ts';

const documentSchema = z.looseObject({ openapi: z.string(), info: z.looseObject({ version: z.string() }) });

export function createOperatorOperations(errorsBase: string): readonly OperatorOperation[] {
  const readOpenapi = reading({
    id: 'readOpenapi',
    path: '/openapi.json',
    tag: 'The cluster',
    summary: 'Read this description',
    query: {},
    successes: [success(200, 'An OpenAPI 3.1 document.', { name: 'OpenapiDocument', schema: documentSchema })],
    run: () => Promise.resolve({ kind: 'text', contentType: 'application/json', text: openapiText }),
  });
  const operations: readonly OperatorOperation[] = [
    createTenant,
    listTenants,
    readTenant,
    updateTenant,
    deleteTenant,
    readUsage,
    createKey,
    listKeys,
    readKey,
    rotateKey,
    identifyKey,
    revokeKey,
    check,
    createGrant,
    revokeGrant,
    listGrants,
    listObjects,
    listObjectsInContext,
    listHolders,
    listHoldersInContext,
    checkBulk,
    writeBulk,
    revokeGrants,
    listNamespaces,
    createNamespace,
    readRules,
    writeRules,
    listRulesVersions,
    readRulesVersion,
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
    readOpenapi,
  ];
  const openapiText: string = JSON.stringify(createOperatorOpenapi(operations, errorsBase));
  return operations;
}
