// The tenants that one shard owns, page by page, ascending by id.

import { defineCall } from './define-call.ts';
import { limitOf, orUndefined, shortText } from './parts/request-fields.ts';
import { tenantFrom, tenantToWire } from './parts/tenants.ts';

interface TenantsQuery {
  readonly after: string | undefined;
  readonly limit: number;
}

export const listTenants = defineCall({
  request: 'listTenants',
  reply: 'tenants',
  access: 'console',
  write: 'no',
  requestToWire: ({ after = '', limit }: TenantsQuery) => ({ listTenants: { after, limit } }),
  requestFromWire: ({ after, limit }): TenantsQuery => ({
    after: orUndefined(shortText(after, 'A tenant id')),
    limit: limitOf(limit),
  }),
  serve: ({ connection }, query) => connection.listTenants(query),
  replyToWire: (tenants) => ({ tenants: { tenants: tenants.map(tenantToWire) } }),
  replyFromWire: ({ tenants }) => tenants.map(tenantFrom),
});
