// Namespaces of a tenant for operators: the same shapes and rules as under /v1/namespaces.

import { z } from 'zod';
import { namespaceRecord } from '../../../core/records.ts';
import { isNamespaceName, NAMESPACE_PATTERN } from '../../../core/tuples.ts';
import type { OperatorApi } from '../../../front/front.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import { readJson } from '../../body.ts';
import { parseBody, parseQuery } from '../../schemas.ts';
import { type Operation, sessionOf } from '../operation.ts';

const namespaceName = z
  .string('must be a string')
  .refine(isNamespaceName, `must be the name of a namespace: ${NAMESPACE_PATTERN}`);

export const createNamespaceShape = { name: namespaceName };

export function namespaceOperations(operatorApi: OperatorApi): readonly Operation[] {
  return [
    {
      method: 'GET',
      path: '/tenants/:tenantId/namespaces',
      name: 'operator-list-namespaces',
      access: 'read-only',
      async run(call) {
        parseQuery(call.search, {});
        const session = await sessionOf(operatorApi, call);
        const namespaces = await session.call(CALLS.listNamespaces, call.context(), undefined);
        return { kind: 'json', status: 200, body: { namespaces: namespaces.map(namespaceRecord) } };
      },
    },
    {
      method: 'POST',
      path: '/tenants/:tenantId/namespaces',
      name: 'operator-create-namespace',
      async run(call) {
        const session = await sessionOf(operatorApi, call);
        const { name } = parseBody(await readJson(call.request), createNamespaceShape);
        const { created, namespace } = await session.call(CALLS.createNamespace, call.context(), name);
        return { kind: 'json', status: created ? 201 : 200, body: namespaceRecord(namespace) };
      },
    },
  ];
}
