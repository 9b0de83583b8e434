// The text of docs/reference/operator-openapi.json: the description that a console serves, with relative addresses.

import { BUILT_IN_PLANS } from '../../src/core/plans.ts';
import type { OperatorApi } from '../../src/front/front.ts';
import { createOperatorOpenapi } from '../../src/operator/api/openapi/operator-openapi.ts';
import { createOperatorOperations } from '../../src/operator/api/operation-table.ts';
import { systemClock } from '../../src/roles/process/system.ts';

/** Nothing is served here: the operations are only described. */
const nobody: OperatorApi = Object.create(null);

export function operatorOpenapiText(): string {
  const dependencies = { operator: nobody, clock: systemClock };
  const operations = createOperatorOperations(dependencies, { errorsBase: '/errors', plans: BUILT_IN_PLANS });
  return `${JSON.stringify(createOperatorOpenapi(operations, '/errors'), undefined, 2)}\n`;
}
