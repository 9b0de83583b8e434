// Creates a namespace, or finds the existing one.

import { GrantdError } from '../../core/errors.ts';
import { isNamespaceName } from '../../core/tuples.ts';
import { defineCall } from './define-call.ts';
import { answered } from './parts/answer-fields.ts';

function nameFrom({ name }: { readonly name: string }): string {
  if (!isNamespaceName(name)) throw new GrantdError('invalid-request', 'The name of the namespace is ill-formed.');
  return name;
}

export const createNamespace = defineCall({
  request: 'createNamespace',
  reply: 'namespaceResult',
  access: 'grant:write',
  write: 'repeatable',
  requestToWire: (name: string) => ({ createNamespace: { name } }),
  requestFromWire: nameFrom,
  serve: ({ connection, handle, attempt }, name) => connection.createNamespace(handle, attempt, name),
  replyToWire: (namespaceResult) => ({ namespaceResult }),
  replyFromWire: ({ created, namespace }) => ({ created, namespace: answered(namespace) }),
});
