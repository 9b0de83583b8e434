// Browsing a tenant: its subjects.

import type { OperatorApi } from '../../../front/front.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import { parsePage } from '../../schemas.ts';
import { type Operation, sessionOf } from '../operation.ts';

export function browseOperations(operatorApi: OperatorApi): readonly Operation[] {
  return [
    {
      method: 'GET',
      path: '/tenants/:tenantId/subjects',
      name: 'operator-list-subjects',
      access: 'read-only',
      async run(call) {
        const query = parsePage(call.search);
        const session = await sessionOf(operatorApi, call);
        const page = await session.call(CALLS.listSubjects, call.context(), query);
        return { kind: 'json', status: 200, body: { subjects: page.items, next_cursor: page.nextCursor ?? null } };
      },
    },
  ];
}
