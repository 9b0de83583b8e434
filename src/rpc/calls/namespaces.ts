// The calls about the namespaces of a tenant.

import { GrantdError } from '../../core/errors.ts';
import { isNamespaceName } from '../../core/tuples.ts';
import { answered } from './answer-fields.ts';
import { defineCall, EMPTY_REQUEST } from './define-call.ts';

function nameFrom({ name }: { readonly name: string }): string {
  if (!isNamespaceName(name)) throw new GrantdError('invalid-request', 'The name of the namespace is ill-formed.');
  return name;
}

export const namespaceCalls = {
  /** All at once. */
  listNamespaces: defineCall('listNamespaces', {
    access: 'check:read',
    ...EMPTY_REQUEST,
    reply: 'namespaces',
    replyToWire: (namespaces) => ({ namespaces: [...namespaces] }),
    replyFromWire: ({ namespaces }) => namespaces,
  }),

  /** Finds the namespace if it exists already. */
  createNamespace: defineCall('createNamespace', {
    access: 'grant:write',
    write: 'repeatable',
    requestToWire: (name) => ({ name }),
    requestFromWire: nameFrom,
    reply: 'namespaceResult',
    replyToWire: (result) => result,
    replyFromWire: ({ created, namespace }) => ({ created, namespace: answered(namespace) }),
  }),
};
