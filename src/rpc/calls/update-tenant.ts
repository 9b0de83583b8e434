// Changes a tenant: its name, its plan, its state. Undefined fields stay as they are.

import { NAME_UNITS_MAX } from '../../core/limits.ts';
import { demand } from '../wire-violation.ts';
import { defineCall } from './define-call.ts';
import { orUndefined, shortText } from './parts/request-fields.ts';
import { tenantFrom, tenantToWire } from './parts/tenants.ts';

interface TenantChange {
  readonly tenantId: string;
  readonly name?: string | undefined;
  readonly plan?: string | undefined;
  readonly state?: 'active' | 'suspended' | 'deleting' | undefined;
  readonly operator: string;
}

function stateFrom(state: string): TenantChange['state'] {
  if (state === '') return undefined;
  const isState = state === 'active' || state === 'suspended' || state === 'deleting';
  demand(isState, 'A tenant cannot be set to this state.');
  return state;
}

export const updateTenant = defineCall({
  request: 'updateTenant',
  reply: 'tenant',
  access: 'console',
  write: 'repeatable',
  requestToWire: ({ tenantId, name = '', plan = '', state, operator }: TenantChange) => ({
    updateTenant: { tenantId, name, plan, state: state ?? '', operator },
  }),
  requestFromWire: ({ tenantId, name, plan, state, operator }): TenantChange => ({
    tenantId: shortText(tenantId, 'A tenant id'),
    name: orUndefined(shortText(name, 'The name of a tenant', NAME_UNITS_MAX)),
    plan: orUndefined(shortText(plan, 'A plan')),
    state: stateFrom(state),
    operator: shortText(operator, 'An operator'),
  }),
  serve: ({ connection, attempt }, change) => connection.updateTenant(attempt, change),
  replyToWire: (tenant) => ({ tenant: tenantToWire(tenant) }),
  replyFromWire: tenantFrom,
});
