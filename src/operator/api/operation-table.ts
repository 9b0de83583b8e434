// Every operation of the operator's API: those that operators alone have, those of the public interface under a tenant,
// and the description of all of them, which is one of them.

import { z } from 'zod';
import { OPERATIONS, readOpenapi } from '../../http/operation-table.ts';
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

/** What operators have in a form of their own, by the same id. */
const OWN = [listKeys, listChanges];
/** What is called otherwise here, since `/subjects` lists all subjects of the tenant. */
const RENAMED: Readonly<Record<string, Parameters<typeof withinTenant>[1]>> = {
  listSubjects: { id: 'listHolders', path: '/holders' },
  listSubjectsInContext: { id: 'listHoldersInContext', path: '/holders' },
  revokeKey: { description: 'Requests with it that start after the response are refused everywhere.' },
};

/** The operations of the public interface; AuthZEN is for enforcement points, which have a key. */
const mountOperations = (): readonly OperatorOperation[] =>
  OPERATIONS.filter(
    ({ id, tag }) => tag !== 'AuthZEN' && tag !== 'Description' && !OWN.some((own) => own.id === id),
  ).map((operation) => withinTenant(operation, RENAMED[operation.id]));

export const createOperatorOperations = (): readonly OperatorOperation[] => [
  createTenant,
  listTenants,
  readTenant,
  updateTenant,
  deleteTenant,
  readUsage,
  ...mountOperations(),
  ...OWN,
  readKey,
  rotateKey,
  identifyKey,
  listSubjects,
  listAuditLog,
  createExportAuditLog(),
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
