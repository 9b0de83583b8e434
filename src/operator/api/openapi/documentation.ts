// What the OpenAPI document says about each operation of the operator's API, by the name of the operation. Bodies and
// parameters are the shapes that the operations parse with, or the public schemas where a parser of core reads them.

import { z } from 'zod';
import type { ErrorCode } from '../../../core/errors.ts';
import {
  EXAMPLE_GRANT,
  EXAMPLE_NAMESPACE,
  EXAMPLE_RULE_SET,
  EXAMPLE_TIMESTAMP,
  EXAMPLE_TUPLE,
} from '../../../http/schema/examples.ts';
import { ruleSetBodySchema, ruleSetSchema, rulesWrittenSchema } from '../../../http/schema/rule-schemas.ts';
import {
  bulkResultSchema,
  bulkSchema,
  bulkWriteResultSchema,
  bulkWriteSchema,
  checkResultSchema,
  checkSchema,
  grantBodySchema,
  grantFilterSchema,
  grantListSchema,
  grantSchema,
  namespaceListSchema,
  namespaceSchema,
  objectListSchema,
  revokeResultSchema,
  subjectListSchema,
  tupleSchema,
} from '../../../http/schema/schemas.ts';
import { pageShape } from '../../schemas.ts';
import { auditExportShape } from '../operations/audit-export.ts';
import { auditLogShape } from '../operations/audit-log.ts';
import { changesShape } from '../operations/changes.ts';
import { exportShape } from '../operations/export.ts';
import { listGrantsShape, listHoldersShape, listObjectsShape } from '../operations/grants.ts';
import { createNamespaceShape } from '../operations/namespaces.ts';
import { writeRulesShape } from '../operations/rules.ts';
import { createTenantShape, listTenantsShape, updateTenantShape } from '../operations/tenants.ts';
import { KEYS } from './key-documentation.ts';
import { body, type OperatorDocumentation, ok, warns } from './operation-documentation.ts';
import {
  auditEventLines,
  auditExportSchema,
  auditLineSchema,
  auditLogSchema,
  importLineSchema,
  loadListSchema,
  memberListSchema,
  operatorChangeListSchema,
  planListSchema,
  slotListSchema,
  tenantListSchema,
  tenantSchema,
  tenantSubjectListSchema,
  usageSchema,
} from './response-schemas.ts';

const TENANT = { name: 'Tenant', schema: tenantSchema };
const GRANT = { name: 'Grant', schema: grantSchema };
const NAMESPACE = { name: 'Namespace', schema: namespaceSchema };
const TUPLE_ERRORS: readonly ErrorCode[] = ['invalid-subject', 'invalid-relation', 'invalid-object'];
const LIMIT_ERRORS: readonly ErrorCode[] = ['namespace-limit-reached', 'grant-limit-reached'];

const TENANTS: Readonly<Record<string, OperatorDocumentation>> = {
  'operator-create-tenant': {
    tag: 'Tenants',
    summary: 'Create a tenant',
    body: body('TenantRequest', createTenantShape, { name: 'Acme', plan: 'standard' }),
    headers: ['Idempotency-Key'],
    successes: [{ status: 201, description: 'The tenant was created.', schema: TENANT }],
    errors: ['already-created', 'idempotency-key-reused'],
  },
  'operator-list-tenants': {
    tag: 'Tenants',
    summary: 'List the tenants',
    query: listTenantsShape,
    successes: [ok('TenantList', tenantListSchema, 'One page, ascending by id.')],
    errors: ['invalid-cursor'],
  },
  'operator-read-tenant': {
    tag: 'Tenants',
    summary: 'Read a tenant',
    successes: [ok(TENANT.name, TENANT.schema, 'The tenant.')],
  },
  'operator-update-tenant': {
    tag: 'Tenants',
    summary: 'Change the name, the plan or the state of a tenant',
    description: 'At least one field. As soon as the response is here, requests of a suspended tenant are refused.',
    body: body('TenantChange', updateTenantShape, { plan: 'scale' }),
    successes: [ok(TENANT.name, TENANT.schema, 'The tenant as it is now.')],
  },
  'operator-delete-tenant': {
    tag: 'Tenants',
    summary: 'Delete a tenant',
    description: 'Its requests are refused at once. Its data is removed in the background; its id is never used again.',
    successes: [{ status: 202, description: 'The tenant is being deleted.', schema: TENANT }],
  },
  'operator-read-usage': {
    tag: 'Tenants',
    summary: 'Read what a tenant has used in the last hour',
    successes: [ok('Usage', usageSchema, 'The minutes of the last hour.')],
  },
};

const WITHIN: Readonly<Record<string, OperatorDocumentation>> = {
  ...KEYS,
  'operator-check': {
    tag: 'Within a tenant',
    summary: 'Check one relationship',
    body: { name: 'CheckRequest', schema: checkSchema, example: EXAMPLE_TUPLE },
    successes: [warns(ok('CheckResult', checkResultSchema, 'The result of the check.'))],
    errors: [...TUPLE_ERRORS, 'evaluation-too-large'],
  },
  'operator-check-bulk': {
    tag: 'Within a tenant',
    summary: 'Check up to 100 relationships',
    body: { name: 'BulkCheck', schema: bulkSchema, example: { checks: [EXAMPLE_TUPLE] } },
    successes: [warns(ok('BulkCheckResult', bulkResultSchema, 'One result for each check.'))],
    errors: [...TUPLE_ERRORS, 'bulk-too-large', 'evaluation-too-large'],
  },
  'operator-create-grant': {
    tag: 'Within a tenant',
    summary: 'Create a grant',
    body: { name: 'GrantRequest', schema: grantBodySchema, example: EXAMPLE_TUPLE },
    successes: [
      warns({ status: 201, description: 'The grant was created.', schema: GRANT }),
      warns({ status: 200, description: 'The grant already existed.', schema: GRANT }),
    ],
    errors: [...TUPLE_ERRORS, ...LIMIT_ERRORS],
  },
  'operator-revoke-grant': {
    tag: 'Within a tenant',
    summary: 'Revoke a grant',
    body: { name: 'Tuple', schema: tupleSchema, example: EXAMPLE_TUPLE },
    successes: [{ status: 204, description: 'The grant was revoked.' }],
    errors: [...TUPLE_ERRORS, 'grant-not-found'],
  },
  'operator-write-bulk': {
    tag: 'Within a tenant',
    summary: 'Create and revoke up to 100 grants at one moment',
    body: { name: 'BulkWrite', schema: bulkWriteSchema, example: { grants: [EXAMPLE_TUPLE] } },
    successes: [warns(ok('BulkWriteResult', bulkWriteResultSchema, 'All changes took effect.'))],
    errors: [...TUPLE_ERRORS, ...LIMIT_ERRORS, 'bulk-too-large', 'precondition-failed'],
  },
  'operator-revoke-grants': {
    tag: 'Within a tenant',
    summary: 'Revoke all grants of a subject, or on an object',
    description: 'Up to 1,000 grants in one call. Repeat it until `complete`.',
    body: { name: 'GrantFilter', schema: grantFilterSchema, example: { subject: EXAMPLE_TUPLE.subject } },
    successes: [ok('RevokeResult', revokeResultSchema, 'How many were revoked, and whether that was all.')],
    errors: TUPLE_ERRORS,
  },
  'operator-list-grants': {
    tag: 'Within a tenant',
    summary: 'List the grants of a subject, or on an object',
    query: listGrantsShape,
    successes: [ok('GrantList', grantListSchema, 'One page.')],
    errors: [...TUPLE_ERRORS, 'invalid-cursor'],
  },
  'operator-list-objects': {
    tag: 'Within a tenant',
    summary: 'List the objects on which a subject holds a relation',
    query: listObjectsShape,
    required: ['subject', 'relation'],
    successes: [warns(ok('ObjectList', objectListSchema, 'One page.'))],
    errors: ['invalid-subject', 'invalid-relation', 'invalid-cursor', 'evaluation-too-large'],
  },
  'operator-list-holders': {
    tag: 'Within a tenant',
    summary: 'List the subjects that hold a relation on an object',
    query: listHoldersShape,
    required: ['object', 'relation'],
    successes: [warns(ok('SubjectList', subjectListSchema, 'One page.'))],
    errors: ['invalid-object', 'invalid-relation', 'invalid-cursor', 'evaluation-too-large'],
  },
  'operator-list-subjects': {
    tag: 'Within a tenant',
    summary: 'List all subjects of a tenant',
    query: pageShape,
    successes: [ok('TenantSubjectList', tenantSubjectListSchema, 'One page, ascending.')],
    errors: ['invalid-cursor'],
  },
  'operator-list-namespaces': {
    tag: 'Within a tenant',
    summary: 'List the namespaces',
    successes: [ok('NamespaceList', namespaceListSchema, 'All namespaces of the tenant.')],
  },
  'operator-create-namespace': {
    tag: 'Within a tenant',
    summary: 'Create a namespace',
    body: body('NamespaceRequest', createNamespaceShape, { name: EXAMPLE_NAMESPACE.name }),
    successes: [
      { status: 201, description: 'The namespace was created.', schema: NAMESPACE },
      { status: 200, description: 'The namespace already existed.', schema: NAMESPACE },
    ],
    errors: ['namespace-limit-reached'],
  },
  'operator-read-rules': {
    tag: 'Within a tenant',
    summary: 'Read the rules',
    successes: [{ ...ok('RuleSet', ruleSetSchema, 'The rules, with their revision in `ETag`.'), header: 'ETag' }],
  },
  'operator-write-rules': {
    tag: 'Within a tenant',
    summary: 'Replace the rules',
    description: 'With `dry_run=true`, nothing changes, and the response says what would.',
    query: writeRulesShape,
    body: { name: 'RuleSetRequest', schema: ruleSetBodySchema, example: EXAMPLE_RULE_SET },
    headers: ['If-Match'],
    successes: [{ ...ok('RulesWritten', rulesWrittenSchema, 'The rules, or what would change.'), header: 'ETag' }],
    errors: ['precondition-failed'],
  },
};

const LOGS: Readonly<Record<string, OperatorDocumentation>> = {
  'operator-list-audit-log': {
    tag: 'Audit log and changes',
    summary: 'Read the audit log of a tenant',
    description: 'Also of a deleted tenant. A page may be short, or empty, although `next_cursor` is not null.',
    query: auditLogShape,
    headers: ['Accept'],
    successes: [
      {
        ...ok('AuditLog', auditLogSchema, 'One page.'),
        lines: { 'application/x-ndjson': { name: 'AuditEntry', schema: auditLineSchema } },
        header: 'X-Service-Cursor',
      },
    ],
    errors: ['invalid-cursor', 'cursor-too-old'],
  },
  'operator-export-audit-log': {
    tag: 'Audit log and changes',
    summary: 'Export the audit log of all tenants',
    query: auditExportShape,
    headers: ['Accept'],
    successes: [{ ...ok('AuditExport', auditExportSchema, 'One page.'), lines: auditEventLines }],
    errors: ['invalid-cursor', 'cursor-too-old'],
  },
  'operator-list-changes': {
    tag: 'Audit log and changes',
    summary: 'Read the change feed of a tenant',
    query: changesShape,
    successes: [ok('ChangePage', operatorChangeListSchema, 'One page.')],
    errors: ['invalid-cursor', 'cursor-too-old'],
  },
};

const FILES: Readonly<Record<string, OperatorDocumentation>> = {
  'operator-import': {
    tag: 'Import and export',
    summary: 'Import up to 1,000 grants, line by line',
    description: 'A line that is refused does not affect the others. Repeating a call is safe.',
    body: {
      name: 'ImportLine',
      schema: grantBodySchema,
      contentType: 'application/x-ndjson',
      example: `${JSON.stringify({ ...EXAMPLE_TUPLE, expires_at: EXAMPLE_TIMESTAMP })}\n`,
    },
    successes: [
      {
        status: 200,
        description: 'A result for each line that is not empty.',
        lines: { 'application/x-ndjson': { name: 'ImportResult', schema: importLineSchema } },
      },
    ],
  },
  'operator-export': {
    tag: 'Import and export',
    summary: 'Export all grants of a tenant',
    description: 'As fast as the client reads. A body that breaks off is incomplete.',
    query: exportShape,
    successes: [
      {
        status: 200,
        description: `Every grant in a line, such as \`${JSON.stringify(EXAMPLE_GRANT)}\`, or in columns.`,
        lines: {
          'application/x-ndjson': GRANT,
          'text/tab-separated-values': {
            name: 'GrantColumns',
            schema: z.string().meta({ description: 'Subject, relation, object, and the expiry if there is one.' }),
          },
        },
        header: 'X-Service-Cursor',
      },
    ],
  },
};

const CLUSTER: Readonly<Record<string, OperatorDocumentation>> = {
  'operator-list-plans': {
    tag: 'The cluster',
    summary: 'List the plans',
    successes: [ok('PlanList', planListSchema, 'All plans.')],
  },
  'operator-list-slots': {
    tag: 'The cluster',
    summary: 'List the slots and their owners',
    successes: [ok('SlotList', slotListSchema, 'All slots.')],
  },
  'operator-list-members': {
    tag: 'The cluster',
    summary: 'List the shards',
    successes: [ok('MemberList', memberListSchema, 'All incarnations that are known.')],
  },
  'operator-list-loads': {
    tag: 'The cluster',
    summary: 'List the load of the shards',
    successes: [ok('LoadList', loadListSchema, 'The last ten seconds of each shard.')],
  },
  'operator-read-openapi': {
    tag: 'The cluster',
    summary: 'Read this description',
    successes: [
      ok(
        'OpenapiDocument',
        z.looseObject({ openapi: z.string(), info: z.looseObject({ version: z.string() }) }),
        'An OpenAPI 3.1 document.',
      ),
    ],
  },
};

export const DOCUMENTATION: Readonly<Record<string, OperatorDocumentation>> = {
  ...TENANTS,
  ...WITHIN,
  ...LOGS,
  ...FILES,
  ...CLUSTER,
};
