// Tenants: create, show, change and delete them. A deletion is accepted at once. The data is removed in the background,
// and the record stays visible as `deleting` until all of it is removed.

import { z } from 'zod';
import { GrantdError } from '../../../core/errors.ts';
import { parseTenantId } from '../../../core/ids.ts';
import { DEFAULT_PLAN_NAME, type Plans } from '../../../core/plans.ts';
import { LISTED_STATES, type Tenant } from '../../../core/tenants.ts';
import type { OperatorApi } from '../../../front/front.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import { readJson } from '../../body.ts';
import { pageShape, parseBody, parseQuery, planName, tenantName, tenantSearch } from '../../schemas.ts';
import { idempotencyKeyOf, type Operation, tenantIdOf } from '../operation.ts';
import { tenantRecord } from '../records.ts';

export const createTenantShape = { name: tenantName, plan: planName.optional() };
export const listTenantsShape = {
  ...pageShape,
  name: tenantSearch.optional(),
  plan: planName.optional(),
  state: z.enum(LISTED_STATES, `must be one of ${LISTED_STATES.join(', ')}`).optional(),
};
export const updateTenantShape = {
  name: tenantName.optional(),
  plan: planName.optional(),
  state: z.enum(['active', 'suspended'], 'must be active or suspended').optional(),
};

function requireKnownPlan(plans: Plans, plan: string | undefined): void {
  if (plan !== undefined && !plans.has(plan)) {
    throw new GrantdError('invalid-request', `The field "plan" must be one of ${[...plans.keys()].join(', ')}.`);
  }
}

function requirePresent<Given extends Tenant>(tenant: Given): Given {
  if (tenant.state === 'deleted') throw new GrantdError('tenant-not-found', 'There is no tenant with this ID.');
  return tenant;
}

export function tenantOperations(operatorApi: OperatorApi, plans: Plans): readonly Operation[] {
  return [
    {
      method: 'POST',
      path: '/tenants',
      name: 'operator-create-tenant',
      async run(call) {
        const body = parseBody(await readJson(call.request), createTenantShape);
        requireKnownPlan(plans, body.plan);
        const asked = { name: body.name, plan: body.plan ?? DEFAULT_PLAN_NAME, operator: call.operator };
        const tenant = await operatorApi.createTenant(call.context(), asked, idempotencyKeyOf(call));
        return { kind: 'json', status: 201, body: tenantRecord(tenant, plans) };
      },
    },
    {
      method: 'GET',
      path: '/tenants',
      name: 'operator-list-tenants',
      access: 'read-only',
      async run(call) {
        const query = parseQuery(call.search, listTenantsShape);
        const after = query.cursor === undefined ? undefined : parseTenantId(query.cursor);
        if (query.cursor !== undefined && after === undefined) {
          throw new GrantdError('invalid-cursor', 'The cursor does not belong to this listing.');
        }
        const { limit, name, plan, state } = query;
        const page = await operatorApi.listTenants(call.context(), { after, limit, name, plan, state });
        return {
          kind: 'json',
          status: 200,
          body: { tenants: page.tenants.map((tenant) => tenantRecord(tenant, plans)), next_cursor: page.next ?? null },
        };
      },
    },
    {
      method: 'GET',
      path: '/tenants/:tenantId',
      name: 'operator-read-tenant',
      access: 'read-only',
      async run(call) {
        parseQuery(call.search, {});
        const tenant = requirePresent(
          await operatorApi.call(CALLS.readTenant, call.context(), { tenantId: tenantIdOf(call) }),
        );
        return { kind: 'json', status: 200, body: tenantRecord(tenant, plans) };
      },
    },
    {
      method: 'PATCH',
      path: '/tenants/:tenantId',
      name: 'operator-update-tenant',
      async run(call) {
        const tenantId = tenantIdOf(call);
        const body = parseBody(await readJson(call.request), updateTenantShape);
        if (body.name === undefined && body.plan === undefined && body.state === undefined) {
          throw new GrantdError('invalid-request', 'The body must contain at least one of "name", "plan" and "state".');
        }
        requireKnownPlan(plans, body.plan);
        const tenant = await operatorApi.call(CALLS.updateTenant, call.context(), {
          ...body,
          tenantId,
          operator: call.operator,
        });
        return { kind: 'json', status: 200, body: tenantRecord(requirePresent(tenant), plans) };
      },
    },
    {
      method: 'DELETE',
      path: '/tenants/:tenantId',
      name: 'operator-delete-tenant',
      async run(call) {
        const tenantId = tenantIdOf(call);
        const tenant = await operatorApi.call(CALLS.updateTenant, call.context(), {
          tenantId,
          state: 'deleting',
          operator: call.operator,
        });
        return { kind: 'json', status: 202, body: tenantRecord(requirePresent(tenant), plans) };
      },
    },
  ];
}
