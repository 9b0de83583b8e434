// Creates a tenant under an id that the console has generated.

import { NAME_UNITS_MAX } from '../../core/limits.ts';
import { defineCall } from './define-call.ts';
import { shortText } from './parts/request-fields.ts';
import { tenantFrom, tenantToWire } from './parts/tenants.ts';

interface NewTenant {
  readonly tenantId: string;
  readonly name: string;
  readonly plan: string;
  readonly operator: string;
}

export const createTenant = defineCall({
  request: 'createTenant',
  reply: 'tenant',
  access: 'console',
  write: 'creates',
  requestToWire: (tenant: NewTenant) => ({ createTenant: tenant }),
  requestFromWire: ({ tenantId, name, plan, operator }): NewTenant => ({
    tenantId: shortText(tenantId, 'A tenant id'),
    name: shortText(name, 'The name of a tenant', NAME_UNITS_MAX),
    plan: shortText(plan, 'A plan'),
    operator: shortText(operator, 'An operator'),
  }),
  serve: ({ connection, attempt }, tenant) => connection.createTenant(attempt, tenant),
  replyToWire: (tenant) => ({ tenant: tenantToWire(tenant) }),
  replyFromWire: tenantFrom,
});
