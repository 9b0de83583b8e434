// The tenants of one shard whose name or id contains a text.

import { NAME_UNITS_MAX } from '../../core/limits.ts';
import { defineCall } from './define-call.ts';
import { tenantIdFrom } from './parts/answer-fields.ts';
import { limitOf, orUndefined, shortText } from './parts/request-fields.ts';
import { tenantFrom, tenantToWire } from './parts/tenants.ts';

interface TenantsSearch {
  readonly name: string;
  readonly after: string | undefined;
  readonly limit: number;
}

export const findTenants = defineCall({
  request: 'findTenants',
  reply: 'tenants',
  access: 'console',
  write: 'no',
  requestToWire: ({ name, after = '', limit }: TenantsSearch) => ({ findTenants: { after, limit, name } }),
  requestFromWire: ({ name, after, limit }): TenantsSearch => ({
    name: shortText(name, 'The name of a tenant', NAME_UNITS_MAX),
    after: orUndefined(shortText(after, 'A tenant id')),
    limit: limitOf(limit),
  }),
  serve: ({ connection }, query) => connection.findTenants(query),
  replyToWire: ({ tenants, scannedTo = '' }) => ({ tenants: { tenants: tenants.map(tenantToWire), scannedTo } }),
  replyFromWire: ({ tenants, scannedTo }) => ({
    tenants: tenants.map(tenantFrom),
    scannedTo: scannedTo === '' ? undefined : tenantIdFrom(scannedTo),
  }),
});
