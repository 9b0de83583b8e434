// Namespaces of the tenant (/v1/namespaces): list and create them. The plan bounds their number, so there are no pages.

import { BODY_BYTES_MAX } from '../../core/limits.ts';
import { namespaceRecord } from '../../core/records.ts';
import { EXAMPLE_NAMESPACE } from '../schema/examples.ts';
import { success } from '../schema/operation-description.ts';
import { namespaceBodySchema, namespaceListSchema, namespaceSchema } from '../schema/schemas.ts';
import { validateBody } from '../schema/validation.ts';
import type { PublicOperation } from './operation.ts';
import { NAMESPACE_LIST_BYTES } from './response-bytes.ts';

export const listNamespaces: PublicOperation = {
  id: 'listNamespaces',
  method: 'GET',
  path: '/v1/namespaces',
  scope: 'check:read',
  tag: 'Namespaces',
  summary: 'List the namespaces',
  description: 'All namespaces of the tenant, created explicitly or by a grant.',
  responseBytesMax: () => NAMESPACE_LIST_BYTES,
  successes: [
    success(200, 'All namespaces, ascending by name.', {
      name: 'NamespaceList',
      schema: namespaceListSchema,
      example: { namespaces: [EXAMPLE_NAMESPACE] },
    }),
  ],
  answer: (session, context) =>
    session.call('listNamespaces', context, undefined).then((namespaces) => ({
      status: 200,
      json: () => JSON.stringify({ namespaces: namespaces.map(namespaceRecord) }),
    })),
};

const namespaceResponse = { name: 'Namespace', schema: namespaceSchema, example: EXAMPLE_NAMESPACE };

export const createNamespace: PublicOperation = {
  id: 'createNamespace',
  method: 'POST',
  path: '/v1/namespaces',
  scope: 'grant:write',
  tag: 'Namespaces',
  summary: 'Create a namespace',
  description: 'Idempotent. Grants create the namespaces they name automatically.',
  body: {
    name: 'NamespaceRequest',
    schema: namespaceBodySchema,
    bytesMax: BODY_BYTES_MAX,
    example: { name: EXAMPLE_NAMESPACE.name },
  },
  successes: [
    success(201, 'The namespace was created.', namespaceResponse),
    success(200, 'The namespace already existed; nothing was changed.', namespaceResponse),
  ],
  errors: ['namespace-limit-reached'],
  answer(session, context, { body }) {
    const { name } = validateBody(namespaceBodySchema, body);
    return session.call('createNamespace', context, name).then(({ created, namespace }) => ({
      status: created ? 201 : 200,
      json: JSON.stringify(namespaceRecord(namespace)),
    }));
  },
};
