// Every operation of the operator's API, registered once, and the description of all of them, which is one of them.

import type { Clock } from '../../core/async/clock.ts';
import type { Plans } from '../../core/plans.ts';
import type { OperatorApi } from '../../front/front.ts';
import { parseQuery } from '../schemas.ts';
import { createOperatorOpenapi } from './openapi/operator-openapi.ts';
import type { Operation } from './operation.ts';
import { auditExportOperations } from './operations/audit-export.ts';
import { auditLogOperations } from './operations/audit-log.ts';
import { browseOperations } from './operations/browse.ts';
import { bulkOperations } from './operations/bulk.ts';
import { changesOperations } from './operations/changes.ts';
import { clusterOperations } from './operations/cluster.ts';
import { exportOperations } from './operations/export.ts';
import { grantOperations } from './operations/grants.ts';
import { importOperations } from './operations/import.ts';
import { keyOperations } from './operations/keys.ts';
import { namespaceOperations } from './operations/namespaces.ts';
import { rulesOperations } from './operations/rules.ts';
import { tenantOperations } from './operations/tenants.ts';
import { usageOperations } from './operations/usage.ts';

export function createOperatorOperations(
  { operator, clock }: { readonly operator: OperatorApi; readonly clock: Clock },
  { errorsBase, plans }: { readonly errorsBase: string; readonly plans: Plans },
): readonly Operation[] {
  const operations: readonly Operation[] = [
    ...tenantOperations(operator, plans),
    ...usageOperations(operator, plans),
    ...keyOperations(operator, clock),
    ...grantOperations(operator, clock),
    ...bulkOperations(operator, clock),
    ...namespaceOperations(operator),
    ...rulesOperations(operator),
    ...browseOperations(operator),
    ...auditLogOperations(operator),
    ...auditExportOperations(operator, clock),
    ...changesOperations(operator),
    ...importOperations(operator, errorsBase, clock),
    ...exportOperations(operator),
    ...clusterOperations(operator, plans),
    {
      method: 'GET',
      path: '/openapi.json',
      name: 'operator-read-openapi',
      access: 'read-only',
      run(call) {
        parseQuery(call.search, {});
        return Promise.resolve({ kind: 'text', contentType: 'application/json', text: openapiText });
      },
    },
  ];
  const openapiText = JSON.stringify(createOperatorOpenapi(operations, errorsBase));
  return operations;
}
