// The calls about the namespaces of a tenant.

import { isNamespaceName, type Namespace } from '../../core/tuples.ts';
import { defineCall } from './define-call.ts';
import { flag, formOf, int64, list, message, nothing, only, text } from './schema.ts';

const namespace = message<Namespace>({ name: text, createdAtMs: int64 });

export const namespaceCalls = {
  /** All at once. */
  listNamespaces: defineCall('listNamespaces', {
    access: 'check:read',
    request: nothing,
    reply: 'namespaces',
    answer: only('namespaces', list(namespace)),
  }),

  /** Finds the namespace if it exists already. */
  createNamespace: defineCall('createNamespace', {
    access: 'grant:write',
    write: 'repeatable',
    request: only('name', formOf('a namespace', isNamespaceName)),
    reply: 'namespaceResult',
    answer: message({ created: flag, namespace }),
  }),
};
