// Looking around in a tenant: its subjects, and the trail of its changes.

import type { OperatorApi } from '../front/front.ts';
import { type Operation, sessionOf } from './operation.ts';
import { changeRecord } from './records.ts';
import { parsePage } from './schemas.ts';

export function browseOperations(operatorApi: OperatorApi): readonly Operation[] {
  return [
    {
      method: 'GET',
      path: '/tenants/:tenantId/subjects',
      name: 'operator-list-subjects',
      async run(call) {
        const query = parsePage(call.search);
        const session = await sessionOf(operatorApi, call);
        const page = await session.listSubjects(call.context(), query);
        return { kind: 'json', status: 200, body: { subjects: page.items, next_cursor: page.nextCursor ?? null } };
      },
    },
    {
      method: 'GET',
      path: '/tenants/:tenantId/changes',
      name: 'operator-list-changes',
      async run(call) {
        const query = parsePage(call.search);
        const session = await sessionOf(operatorApi, call);
        const page = await session.listTrail(call.context(), query);
        return {
          kind: 'json',
          status: 200,
          body: { changes: page.items.map(changeRecord), next_cursor: page.nextCursor ?? null },
        };
      },
    },
  ];
}
