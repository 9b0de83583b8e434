// The calls about the namespaces of a tenant.

import { GrantdError } from '../../core/errors.ts';
import { BULK_CHECKS_MAX } from '../../core/limits.ts';
import { isNamespaceName } from '../../core/tuples.ts';
import { demand } from '../wire-violation.ts';
import { answered } from './answer-fields.ts';
import { defineCall, EMPTY_REQUEST } from './define-call.ts';

/** Each check of a bulk check names two. */
const NAMESPACES_MAX = 2 * BULK_CHECKS_MAX;

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

  /** For the warnings of answers that are false or empty. */
  unknownNamespaces: defineCall('unknownNamespaces', {
    access: 'check:read',
    requestToWire: (namespaces) => ({ namespaces: [...namespaces] }),
    requestFromWire: ({ namespaces }) => {
      demand(namespaces.length <= NAMESPACES_MAX, `A call has more than ${NAMESPACES_MAX} namespaces.`);
      demand(namespaces.every(isNamespaceName), 'A call names no namespace.');
      return namespaces;
    },
    reply: 'names',
    replyToWire: (namespaces) => ({ names: [...namespaces] }),
    replyFromWire: ({ names }, asked) => names.filter((name) => asked.includes(name)),
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
