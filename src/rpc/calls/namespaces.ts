// The calls about the namespaces of a tenant.

import { isNamespaceName, type Namespace } from '../../core/tuples.ts';
import { defineCall } from './define-call.ts';
import * as s from './schema.ts';

const namespace = s.message<Namespace>({ name: s.text, createdAtMs: s.int64 });

export const namespaceCalls = {
  /** All at once. */
  listNamespaces: defineCall('listNamespaces', {
    access: 'check:read',
    request: s.nothing,
    reply: 'namespaces',
    answer: s.only('namespaces', s.list(namespace)),
  }),

  /** Finds the namespace if it exists already. */
  createNamespace: defineCall('createNamespace', {
    access: 'grant:write',
    write: 'repeatable',
    request: s.only('name', s.formOf('a namespace', isNamespaceName)),
    reply: 'namespaceResult',
    answer: s.message({ created: s.flag, namespace }),
  }),
};
