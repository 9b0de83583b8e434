// POST /v1/namespaces: creates a namespace, or finds the existing one.

import { BODY_BYTES_MAX } from '../../core/limits.ts';
import { namespaceRecord } from '../../core/records.ts';
import { CALLS } from '../../rpc/calls/table.ts';
import { EXAMPLE_NAMESPACE } from '../schema/examples.ts';
import { namespaceBodySchema, namespaceSchema } from '../schema/schemas.ts';
import { validateBody } from '../schema/validation.ts';
import type { Operation } from './operation.ts';

const schema = { name: 'Namespace', schema: namespaceSchema };

export const createNamespace: Operation = {
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
  query: undefined,
  successes: [
    { status: 201, description: 'The namespace was created.', schema, example: EXAMPLE_NAMESPACE },
    {
      status: 200,
      description: 'The namespace already existed; nothing was changed.',
      schema,
      example: EXAMPLE_NAMESPACE,
    },
  ],
  errors: ['namespace-limit-reached'],
  answer(session, context, { body }) {
    const { name } = validateBody(namespaceBodySchema, body);
    return session.call(CALLS.createNamespace, context, name).then(({ created, namespace }) => ({
      status: created ? 201 : 200,
      json: JSON.stringify(namespaceRecord(namespace)),
    }));
  },
};
