// Which of some namespaces a tenant knows nothing of: for the warnings of answers that are false or empty.

import { BULK_CHECKS_MAX } from '../../core/limits.ts';
import { isNamespaceName } from '../../core/tuples.ts';
import { demand } from '../wire-violation.ts';
import { defineCall } from './define-call.ts';

/** Each check names two. */
const NAMESPACES_MAX = 2 * BULK_CHECKS_MAX;

export const unknownNamespaces = defineCall({
  request: 'unknownNamespaces',
  reply: 'names',
  access: 'check:read',
  write: 'no',
  requestToWire: (namespaces: readonly string[]) => ({ unknownNamespaces: { namespaces: [...namespaces] } }),
  requestFromWire: ({ namespaces }): readonly string[] => {
    demand(namespaces.length <= NAMESPACES_MAX, `A call has more than ${NAMESPACES_MAX} namespaces.`);
    demand(namespaces.every(isNamespaceName), 'A call names no namespace.');
    return namespaces;
  },
  serve: ({ connection, handle }, namespaces) => connection.unknownNamespaces(handle, namespaces),
  replyToWire: (namespaces) => ({ names: { names: [...namespaces] } }),
  replyFromWire: ({ names }, asked) => names.filter((name) => asked.includes(name)),
});
