// What a tenant has used of its limit, minute by minute.

import { type Plan, type Plans, resolvePlan } from '../../../core/plans.ts';
import type { OperatorApi } from '../../../front/front.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import { parseQuery } from '../../schemas.ts';
import { type Operation, tenantIdOf } from '../operation.ts';
import { usageRecord } from '../records.ts';

const limitRecord = ({ requests, windowSeconds }: Plan): object | null =>
  requests === undefined ? null : { requests, window_seconds: windowSeconds };

export function usageOperations(operatorApi: OperatorApi, plans: Plans): readonly Operation[] {
  return [
    {
      method: 'GET',
      path: '/tenants/:tenantId/usage',
      name: 'operator-read-usage',
      access: 'read-only',
      async run(call) {
        parseQuery(call.search, {});
        const tenantId = tenantIdOf(call);
        const context = call.context();
        const [tenant, minutes] = await Promise.all([
          operatorApi.call(CALLS.readTenant, context, { tenantId }),
          operatorApi.call(CALLS.readUsage, context, { tenantId }),
        ]);
        const limit = limitRecord(resolvePlan(plans, tenant.plan));
        return { kind: 'json', status: 200, body: { limit, minutes: minutes.map(usageRecord) } };
      },
    },
  ];
}
