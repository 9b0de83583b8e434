// Every operation of the public interface, registered once, and the paths they make up.

import type { Clock } from '../core/clock.ts';
import type { Method, Operation } from './operation.ts';
import { createCheck } from './operations/check.ts';
import { createCheckBulk } from './operations/check-bulk.ts';
import { createGrant } from './operations/create-grant.ts';
import { createCreateKey } from './operations/create-key.ts';
import { createNamespace } from './operations/create-namespace.ts';
import { listKeys } from './operations/list-keys.ts';
import { listNamespaces } from './operations/list-namespaces.ts';
import { listObjects } from './operations/list-objects.ts';
import { createReadOpenapi } from './operations/read-openapi.ts';
import { revokeGrant } from './operations/revoke-grant.ts';
import { revokeKey } from './operations/revoke-key.ts';
import type { CheckOutcomes, OperationMeter } from './request-metrics.ts';

/** In the order of the specification; the first is the hot one and is matched first. */
export function createOperations(dependencies: {
  readonly clock: Pick<Clock, 'wallMs'>;
  readonly outcomes: CheckOutcomes;
  /** The OpenAPI file that `GET /openapi.json` answers with. */
  readonly readOpenapiText: () => string;
}): readonly Operation[] {
  return [
    createCheck(dependencies.outcomes),
    createCheckBulk(dependencies.outcomes),
    createGrant,
    revokeGrant,
    listObjects,
    listNamespaces,
    createNamespace,
    listKeys,
    createCreateKey(dependencies.clock),
    revokeKey,
    createReadOpenapi(dependencies.readOpenapiText),
  ];
}

export interface RegisteredOperation extends Operation {
  readonly queryNames: readonly string[];
  readonly meter: OperationMeter;
}

/** One path and what it takes. */
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
