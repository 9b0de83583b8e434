// Namespaces and rules of a tenant for operators: the same shapes and rules as under /v1/.

import { z } from 'zod';
import { RULES_BODY_BYTES_MAX } from '../../../core/limits.ts';
import { namespaceRecord } from '../../../core/records.ts';
import { WARNING_HEADER, warningHeaderOf } from '../../../core/service-warnings.ts';
import { isNamespaceName, NAMESPACE_PATTERN } from '../../../core/tuples.ts';
import { warnOfOutside } from '../../../front/type-warnings.ts';
import { EXAMPLE_ETAG, EXAMPLE_NAMESPACE, EXAMPLE_RULE_SET } from '../../../http/schema/examples.ts';
import { success } from '../../../http/schema/operation-description.ts';
import { ruleSetBodySchema, ruleSetSchema, rulesWrittenSchema } from '../../../http/schema/rule-schemas.ts';
import { dryRunQuerySchema } from '../../../http/schema/schema-parts.ts';
import { namespaceListSchema, namespaceSchema } from '../../../http/schema/schemas.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import { type RuleSet, revisionOf, ruleSetRecord } from '../../../rules/rule-set.ts';
import { etagOf, parseRulesRequest, rulesPreviewRecord } from '../../../rules/rules-writes.ts';
import { readJson } from '../../body.ts';
import { parseBody } from '../../schemas.ts';
import {
  type ApiResponse,
  jsonBody,
  jsonResponse,
  type OperatorOperation,
  reading,
  sessionOf,
  withQuery,
} from '../operation.ts';

export const listNamespaces = reading({
  id: 'listNamespaces',
  path: '/tenants/{tenantId}/namespaces',
  tag: 'Within a tenant',
  summary: 'List the namespaces',
  query: {},
  successes: [success(200, 'All namespaces of the tenant.', { name: 'NamespaceList', schema: namespaceListSchema })],
  async run(call) {
    const session = await sessionOf(call);
    const namespaces = await session.call(CALLS.listNamespaces, call.context(), undefined);
    return jsonResponse(200, { namespaces: namespaces.map(namespaceRecord) });
  },
});

const NAMESPACE = { name: 'Namespace', schema: namespaceSchema };
const createShape = {
  name: z.string('must be a string').refine(isNamespaceName, `must be the name of a namespace: ${NAMESPACE_PATTERN}`),
};

export const createNamespace: OperatorOperation = {
  id: 'createNamespace',
  method: 'POST',
  path: '/tenants/{tenantId}/namespaces',
  tag: 'Within a tenant',
  summary: 'Create a namespace',
  body: jsonBody('NamespaceRequest', createShape, { name: EXAMPLE_NAMESPACE.name }),
  successes: [
    success(201, 'The namespace was created.', NAMESPACE),
    success(200, 'The namespace already existed.', NAMESPACE),
  ],
  errors: ['namespace-limit-reached'],
  async run(call) {
    const session = await sessionOf(call);
    const { name } = parseBody(await readJson(call.request), createShape);
    const { created, namespace } = await session.call(CALLS.createNamespace, call.context(), name);
    return jsonResponse(created ? 201 : 200, namespaceRecord(namespace));
  },
};

const rulesResponse = (ruleSet: RuleSet, headers: Readonly<Record<string, string>> = {}): ApiResponse =>
  jsonResponse(200, ruleSetRecord(ruleSet), { ETag: etagOf(revisionOf(ruleSet)), ...headers });

export const readRules = reading({
  id: 'readRules',
  path: '/tenants/{tenantId}/rules',
  tag: 'Within a tenant',
  summary: 'Read the rules',
  query: {},
  successes: [
    success(200, 'The rules, with their revision in `ETag`.', {
      name: 'RuleSet',
      schema: ruleSetSchema,
      header: 'ETag',
    }),
  ],
  async run(call) {
    const session = await sessionOf(call);
    return rulesResponse(await session.call(CALLS.readRules, call.context(), undefined));
  },
});

export const writeRules = withQuery({
  id: 'writeRules',
  method: 'PUT',
  path: '/tenants/{tenantId}/rules',
  tag: 'Within a tenant',
  summary: 'Replace the rules',
  description: 'With `dry_run=true`, nothing changes, and the response says what would.',
  query: dryRunQuerySchema.shape,
  body: { name: 'RuleSetRequest', schema: ruleSetBodySchema, example: EXAMPLE_RULE_SET },
  headers: { 'If-Match': { description: 'The revision that the rules must have.', example: EXAMPLE_ETAG } },
  successes: [
    success(200, 'The rules, or what would change.', {
      name: 'RulesWritten',
      schema: rulesWrittenSchema,
      header: ['ETag', WARNING_HEADER],
    }),
  ],
  errors: ['precondition-failed', 'condition-in-use', 'grants-outside-types'],
  async run(call, { dry_run: dryRun }) {
    const session = await sessionOf(call);
    const request = await parseRulesRequest(await readJson(call.request, RULES_BODY_BYTES_MAX), call.request.headers);
    if (dryRun === 'true') {
      const preview = await session.call(CALLS.previewRules, call.context(), request);
      return jsonResponse(200, rulesPreviewRecord(request.ruleSet, preview));
    }
    await session.call(CALLS.writeRules, call.context(), request);
    const warning = warningHeaderOf(await warnOfOutside(session, call.context(), request.ruleSet));
    return rulesResponse(request.ruleSet, warning === undefined ? {} : { [WARNING_HEADER]: warning });
  },
});
