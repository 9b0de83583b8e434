// The OpenAPI document of the operator's API.

import { headerRef, type JsonObject } from '../../http/openapi/headers.ts';
import { TENANT_PARTS } from '../../http/openapi/openapi.ts';
import { createDocument, type DescribedInterface } from '../../http/openapi/openapi-document.ts';
import { EXAMPLE_TENANT_ID } from '../../http/schema/examples.ts';
import type { OperatorOperation } from './operation.ts';

export const OPERATOR_API_PREFIX = '/operator/v1';

const { NamespaceRelation: _, ...parts } = TENANT_PARTS;

const OPERATOR_INTERFACE: DescribedInterface<OperatorOperation> = {
  title: 'grantd, for operators',
  summary: 'Tenants, their grants and keys, and the cluster.',
  description:
    'Tenants cannot use this API. GET is also answered to HEAD. Unknown and repeated query parameters and fields of bodies are refused.',
  tags: {
    Tenants: 'The customers of the service: create, change, suspend and delete them.',
    'Within a tenant':
      'What a key of the tenant may do, with all scopes and without a rate limit, also while it is suspended.',
    'Audit log and changes': 'Who has changed what, and what has changed.',
    'Import and export': 'Many grants, line by line.',
    'The cluster': 'Plans, slots, shards and their load.',
  },
  securitySchemes: { operatorToken: { type: 'http', scheme: 'bearer', description: 'An operator token.' } },
  security: [{ operatorToken: [] }],
  pathParameters: {
    tenantId: { description: 'The id of the tenant.', example: EXAMPLE_TENANT_ID },
  },
  headers: ['RequestId', 'ETag', 'FeedCursor', 'Warning', 'RetryAfter', 'WwwAuthenticate'],
  parts,
  headersOf: () => ({ 'X-Service-Request-Id': headerRef('RequestId') }),
  refusalsOf: ({ path }) =>
    path.includes('{tenantId}') ? ['insufficient-scope', 'tenant-not-found'] : ['insufficient-scope'],
};

export function createOperatorOpenapi(operations: readonly OperatorOperation[], errorsBase: string): JsonObject {
  const prefixed = operations.map((operation) => ({ ...operation, path: `${OPERATOR_API_PREFIX}${operation.path}` }));
  return createDocument(OPERATOR_INTERFACE, prefixed, { serverUrl: '/', errorsBase });
}
