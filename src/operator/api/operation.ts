// An operation of the operator's API: a method, a path, and a function from a call to a response. Operations know
// neither express nor sockets; the app sends their responses.

import type { IncomingMessage } from 'node:http';
import { GrantdError } from '../../core/errors.ts';
import { parseIdempotencyKey } from '../../core/idempotency-keys.ts';
import { type KeyId, parseKeyId, parseTenantId, type TenantId } from '../../core/ids.ts';
import type { OperatorAccess } from '../../core/scopes.ts';
import type { OperatorApi, OperatorTenantSession, RequestContext } from '../../front/front.ts';

export type ApiResponse =
  | {
      readonly kind: 'json';
      readonly status: 200 | 201 | 202;
      readonly body: object;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'empty' }
  | {
      readonly kind: 'text';
      readonly contentType: string;
      readonly text: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /**
   * Chunks are pulled one at a time, as fast as the client reads. A failure after the first chunk breaks the
   * connection.
   */
  | {
      readonly kind: 'stream';
      readonly contentType: string;
      readonly chunks: AsyncIterable<string>;
      readonly headers?: Readonly<Record<string, string>>;
    };

export interface Call {
  /** Only used for its body, and for the conditions and the Idempotency-Key in its header. */
  readonly request: IncomingMessage;
  /** After the question mark, as sent. */
  readonly search: string;
  /** From the path, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The name of the operator. */
  readonly operator: string;
  /** The request's id with a full deadline from now on: an operation of several steps calls it once per step. */
  context(): RequestContext;
}

export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below /operator/v1, with `:name` parameters. */
  readonly path: string;
  /** The label of its metrics. */
  readonly name: string;
  /** What the operator must have; `full` unless it says otherwise. */
  readonly access?: OperatorAccess;
  run(call: Call): Promise<ApiResponse>;
}

/** Of a request that creates something; undefined: it has none. Throws `invalid-request`. */
export const idempotencyKeyOf = ({ request }: Call): string | undefined =>
  parseIdempotencyKey(request.headers['idempotency-key']);

/** The tenant in the path. Throws `tenant-not-found` for an id that grantd cannot have issued. */
export function tenantIdOf(call: Call): TenantId {
  const tenantId = parseTenantId(call.parameters.tenantId ?? '');
  if (tenantId === undefined) throw new GrantdError('tenant-not-found', 'There is no tenant with this ID.');
  return tenantId;
}

/** The key in the path. Throws `key-not-found` for an id that grantd cannot have issued. */
export function keyIdOf(call: Call): KeyId {
  const keyId = parseKeyId(call.parameters.keyId ?? '');
  if (keyId === undefined) throw new GrantdError('key-not-found', 'The tenant has no active API key with this ID.');
  return keyId;
}

/** A session for the tenant in the path, with every scope. */
export function sessionOf(operatorApi: OperatorApi, call: Call): Promise<OperatorTenantSession> {
  return operatorApi.tenant(call.context(), tenantIdOf(call), call.operator);
}
