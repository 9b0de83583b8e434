// The text of docs/reference/operator-openapi.json: the description that a console serves, with relative addresses.

import { createOperatorOperations } from '../../src/operator/api/operation-table.ts';
import { createOperatorOpenapi } from '../../src/operator/api/operator-openapi.ts';

export function operatorOpenapiText(): string {
  return `${JSON.stringify(createOperatorOpenapi(createOperatorOperations(), '/errors'), undefined, 2)}\n`;
}
