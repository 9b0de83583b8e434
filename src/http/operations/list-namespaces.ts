// GET /v1/namespaces: all namespaces of the tenant. Their number is bounded by the plan, so there are no pages.

import { namespaceRecord } from '../../core/records.ts';
import { CALLS } from '../../rpc/calls/table.ts';
import { EXAMPLE_NAMESPACE } from '../schema/examples.ts';
import { namespaceListSchema } from '../schema/schemas.ts';
import type { Operation } from './operation.ts';
import { NAMESPACE_LIST_BYTES } from './response-bytes.ts';

export const listNamespaces: Operation = {
  id: 'listNamespaces',
  method: 'GET',
  path: '/v1/namespaces',
  scope: 'check:read',
  tag: 'Namespaces',
  summary: 'List the namespaces',
  description: 'All namespaces of the tenant, created explicitly or by a grant.',
  body: undefined,
  query: undefined,
  responseBytesMax: () => NAMESPACE_LIST_BYTES,
  successes: [
    {
      status: 200,
      description: 'All namespaces, ascending by name.',
      schema: { name: 'NamespaceList', schema: namespaceListSchema },
      example: { namespaces: [EXAMPLE_NAMESPACE] },
    },
  ],
  errors: [],
  answer: (session, context) =>
    session.call(CALLS.listNamespaces, context, undefined).then((namespaces) => ({
      status: 200,
      json: () => JSON.stringify({ namespaces: namespaces.map(namespaceRecord) }),
    })),
};
