// The cluster as the operator sees it: plans, slots, members and the load of its shards.

import type { Plans } from '../../../core/plans.ts';
import type { OperatorApi } from '../../../front/front.ts';
import { parseQuery } from '../../schemas.ts';
import type { Operation } from '../operation.ts';
import { loadRecord, memberRecord, planRecord, slotRecord } from '../records.ts';

export function clusterOperations(operatorApi: OperatorApi, plans: Plans): readonly Operation[] {
  return [
    {
      method: 'GET',
      path: '/plans',
      name: 'operator-list-plans',
      access: 'read-only',
      async run(call) {
        parseQuery(call.search, {});
        return { kind: 'json', status: 200, body: { plans: [...plans.values()].map(planRecord) } };
      },
    },
    {
      method: 'GET',
      path: '/slots',
      name: 'operator-list-slots',
      access: 'read-only',
      async run(call) {
        parseQuery(call.search, {});
        const slots = await operatorApi.listSlots(call.context());
        return { kind: 'json', status: 200, body: { slots: slots.map(slotRecord) } };
      },
    },
    {
      method: 'GET',
      path: '/loads',
      name: 'operator-list-loads',
      access: 'read-only',
      async run(call) {
        parseQuery(call.search, {});
        const loads = await operatorApi.listLoads(call.context());
        return { kind: 'json', status: 200, body: { shards: loads.map(loadRecord) } };
      },
    },
    {
      method: 'GET',
      path: '/members',
      name: 'operator-list-members',
      access: 'read-only',
      async run(call) {
        parseQuery(call.search, {});
        const members = await operatorApi.listMembers(call.context());
        return { kind: 'json', status: 200, body: { members: members.map(memberRecord) } };
      },
    },
  ];
}
