// The namespaces of a tenant, all at once.

import { defineCall } from './define-call.ts';

export const listNamespaces = defineCall({
  request: 'listNamespaces',
  reply: 'namespaces',
  access: 'check:read',
  write: 'no',
  requestToWire: (_: undefined) => ({ listNamespaces: {} }),
  requestFromWire: () => undefined,
  serve: ({ connection, handle }) => connection.listNamespaces(handle),
  replyToWire: (namespaces) => ({ namespaces: { namespaces: [...namespaces] } }),
  replyFromWire: ({ namespaces }) => namespaces,
});
