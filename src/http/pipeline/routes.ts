// The paths of all operations, the methods that each of them accepts, and the hint for a client that requests a path at
// which there is nothing. Invariant: the hint names only public paths of this service, and repeats nothing that the
// client sent.

import type { PublicOperation } from '../operations/operation.ts';
import type { OperationMeter } from './request-metrics.ts';

export interface RegisteredOperation extends PublicOperation {
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
  readonly reserveMethod: string | undefined;
}

export function createRoutes(
  operations: readonly PublicOperation[],
  meterOf: (operation: string) => OperationMeter,
): readonly Route[] {
  return [...Map.groupBy(operations, ({ path }) => path)].map(([path, group]) => ({
    path,
    operations: new Map(
      group.map((operation) => [
        operation.method,
        {
          ...operation,
          queryNames: Object.keys(operation.query ?? {}),
          meter: meterOf(operation.id),
        },
      ]),
    ),
    allow: group.map(({ method }) => method).join(', '),
    reserveMethod: group.find(({ reserve }) => reserve === true)?.method,
  }));
}

/** Longer paths are near none. */
const TARGET_LENGTH_MAX = 128;

/** Lower case, without the version in front and slashes at the end: the commonest mistakes. */
const plain = (path: string): string =>
  path
    .toLowerCase()
    .replace(/\/{2,}/g, '/')
    .replace(/\/$/, '')
    .replace(/^\/v1(?=\/)/, '');

/** Without the plural of any of its names. */
const singular = (path: string): string => path.replace(/s(?=\/|$)/g, '');

/** `paths`: all without parameters. The returned function gives the detail of a `not-found`. */
export function createNearPaths(paths: readonly string[]): (target: string) => string {
  const near = new Map<string, string>();
  for (const form of [(path: string) => singular(plain(path)), plain]) {
    for (const path of paths) if (path !== '/') near.set(form(path), path);
  }
  return (target) => {
    const path = target.length > TARGET_LENGTH_MAX ? '' : plain(target.split(/[?#]/, 1)[0] ?? '');
    const meant = near.get(path) ?? near.get(singular(path));
    const hint = meant === undefined ? '' : ` Perhaps you mean ${meant}.`;
    return `There is nothing at this path.${hint} The reference at /docs lists every path.`;
  };
}
