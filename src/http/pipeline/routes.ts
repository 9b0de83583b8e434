// The paths of all operations, and the methods that each of them accepts.

import type { Method, Operation } from '../operations/operation.ts';
import type { OperationMeter } from './request-metrics.ts';

export interface RegisteredOperation extends Operation {
  readonly queryNames: readonly string[];
  readonly meter: OperationMeter;
}

/** One path and its operations. */
export interface Route {
  /** As in OpenAPI. */
  readonly path: string;
  readonly operations: ReadonlyMap<string, RegisteredOperation>;
  /** For the `Allow` header. */
  readonly allow: string;
  /** The method that draws on the reserve of the calling key; every other one counts in the plan's window. */
  readonly reserveMethod: Method | undefined;
}

export function createRoutes(
  operations: readonly Operation[],
  meterOf: (operation: string) => OperationMeter,
): readonly Route[] {
  return [...Map.groupBy(operations, ({ path }) => path)].map(([path, group]) => ({
    path,
    operations: new Map(
      group.map((operation) => [
        operation.method,
        {
          ...operation,
          queryNames: operation.query === undefined ? [] : Object.keys(operation.query.shape),
          meter: meterOf(operation.id),
        },
      ]),
    ),
    allow: group.map(({ method }) => method).join(', '),
    reserveMethod: group.find(({ reserve }) => reserve === true)?.method,
  }));
}
