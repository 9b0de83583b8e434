// The paths of all operations, the methods that each of them accepts, and the hint for a client that requests a path at
// which there is nothing. Invariant: the hint names only public paths of this service, and repeats nothing that the
// client sent.

import type { GrantdError } from '../../core/errors.ts';
import type { TenantSession } from '../../front/front.ts';
import type {
  Caller,
  OpenContext,
  Operation,
  OperationBody,
  OperationReply,
  OperationRequest,
} from '../operations/operation.ts';
import type { OperationMeter } from './request-metrics.ts';

/** An operation as a door serves it. */
export interface RegisteredOperation<Session extends Caller = TenantSession> {
  readonly method: string;
  /** With the prefix of the door. */
  readonly path: string;
  readonly body: OperationBody | undefined;
  readonly queryNames: readonly string[];
  readonly meter: OperationMeter;
  /** The call draws on the reserve of the calling key. */
  readonly reserve: boolean;
  /** Why the caller must not call it; undefined: it may. */
  refusal(session: Session): GrantdError | undefined;
  responseBytesMax(request: OperationRequest): number;
  answer(session: Session, context: OpenContext, request: OperationRequest): Promise<OperationReply>;
}

/** `door`: what this door alone decides about the operation. */
export const registerOperation = <Session extends Caller, Services>(
  operation: Operation<Session, Services>,
  services: Services,
  door: Pick<RegisteredOperation<Session>, 'path' | 'meter' | 'reserve' | 'refusal'>,
): RegisteredOperation<Session> => ({
  method: operation.method,
  body: operation.body,
  queryNames: Object.keys(operation.query ?? {}),
  responseBytesMax: (request) => operation.responseBytesMax?.(request, services) ?? 0,
  answer: (session, context, request) => operation.answer(session, context, request, services),
  ...door,
});

/** `/v1/keys/{key_id}` → `/v1/keys/:key_id` */
export const expressPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

/** One path and its operations. */
export interface HttpRoute<Session extends Caller = TenantSession> {
  /** In the form of OpenAPI. */
  readonly path: string;
  readonly operations: ReadonlyMap<string, RegisteredOperation<Session>>;
  /** For the `Allow` header. */
  readonly allow: string;
  /** The method that draws on the reserve of the calling key; every other one counts in the plan's window. */
  readonly reserveMethod: string | undefined;
}

/** `servesHead`: whether what answers GET also answers HEAD. */
export function createRoutes<Session extends Caller>(
  operations: readonly RegisteredOperation<Session>[],
  { servesHead = false }: { readonly servesHead?: boolean } = {},
): readonly HttpRoute<Session>[] {
  return [...Map.groupBy(operations, ({ path }) => path)].map(([path, group]) => {
    const byMethod = new Map(group.map((operation) => [operation.method, operation]));
    const read = byMethod.get('GET');
    if (servesHead && read !== undefined) byMethod.set('HEAD', read);
    const methods = [...byMethod.keys()];
    return {
      path,
      operations: byMethod,
      allow: (servesHead ? methods.sort() : methods).join(', '),
      reserveMethod: group.find(({ reserve }) => reserve)?.method,
    };
  });
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
