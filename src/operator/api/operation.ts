// An operation of the operator's API: what the OpenAPI document says about it, and a function from a call to a
// response. Operations know neither express nor sockets; the app sends their responses.

import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { Clock } from '../../core/async/clock.ts';
import { parseIdempotencyKey } from '../../core/idempotency-keys.ts';
import type { Plans } from '../../core/plans.ts';
import type { OperatorAccess } from '../../core/scopes.ts';
import type { OperatorApi, OperatorTenantSession, RequestContext } from '../../front/front.ts';
import type { OperationDescription } from '../../http/schema/operation-description.ts';
import { closedObject } from '../../http/schema/schema-parts.ts';
import { tenantIdOf } from '../path-ids.ts';

export type ResponseHeaders = Readonly<Record<string, string>>;

export type ApiResponse =
  | {
      readonly kind: 'json';
      readonly status: 200 | 201 | 202;
      readonly body: object;
      readonly headers?: ResponseHeaders;
    }
  | { readonly kind: 'empty' }
  | { readonly kind: 'text'; readonly contentType: string; readonly text: string; readonly headers?: ResponseHeaders }
  /**
   * Chunks are pulled one at a time, as fast as the client reads. A failure after the first chunk breaks the
   * connection.
   */
  | {
      readonly kind: 'stream';
      readonly contentType: string;
      readonly chunks: AsyncIterable<string>;
      readonly headers?: ResponseHeaders;
    };

export interface Call {
  readonly api: OperatorApi;
  readonly clock: Clock;
  readonly plans: Plans;
  /** The base of the `type` of a problem. */
  readonly errorsBase: string;
  /** Only used for its body, and for the conditions and the Idempotency-Key in its header. */
  readonly request: IncomingMessage;
  /** From the path, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The name of the operator. */
  readonly operator: string;
  /** The request's id with a full deadline from now on: an operation of several steps calls it once per step. */
  context(): RequestContext;
}

/** Its path is below /operator/v1. */
export interface OperatorOperation extends OperationDescription {
  readonly tag: 'Tenants' | 'Within a tenant' | 'Audit log and changes' | 'Import and export' | 'The cluster';
  /** The access that the operator needs; `full` unless given. */
  readonly access?: OperatorAccess;
  /** `query` holds the values of the parameters that `query` of the description declares; there are no others. */
  run(call: Call, query: Readonly<Record<string, unknown>>): Promise<ApiResponse>;
}

type WithQuery<Shape extends z.ZodRawShape> = Omit<OperatorOperation, 'query' | 'run'> & {
  readonly query: Shape;
  run(call: Call, query: z.output<z.ZodObject<Shape>>): Promise<ApiResponse>;
};

/** An operation with query parameters, which types what it is run with. */
export const withQuery = <Shape extends z.ZodRawShape>(operation: WithQuery<Shape>): OperatorOperation => operation;

/** An operation that only reads. */
export const reading = <Shape extends z.ZodRawShape>(
  operation: Omit<WithQuery<Shape>, 'method' | 'access'>,
): OperatorOperation => ({ ...operation, method: 'GET', access: 'read-only' });

/** The label of an operation in metrics and logs: `operator-create-tenant` for `createTenant`. */
export const labelOf = ({ id }: OperatorOperation): string =>
  `operator-${id.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

// ---- documentation ----

/** In a response: a number, a time, and the cursor of a listing. */
export const count = (description: string) => z.int().min(0).meta({ description });
export const timestampText = (description: string) => z.string().meta({ format: 'date-time', description });
export const nextCursor = z
  .string()
  .nullable()
  .meta({ description: 'The `cursor` of the next request; null at the end.' });

/** How a JSON body of this shape is documented. */
export const jsonBody = (name: string, shape: z.ZodRawShape, example: unknown) => ({
  name,
  schema: closedObject(shape),
  example,
});

/** How the header `Idempotency-Key` is documented. */
export const IDEMPOTENCY = {
  'Idempotency-Key': {
    description: 'Makes the request repeatable; a new one for each thing to create.',
    example: '"8e03978e"',
  },
};

/** How an operation is documented that also answers in lines of JSON. */
export const ACCEPT_LINES = {
  Accept: { description: 'Selects lines of JSON, as `format` does.', example: 'application/x-ndjson' },
};

// ---- running ----

export const jsonResponse = (status: 200 | 201 | 202, body: object, headers: ResponseHeaders = {}): ApiResponse => ({
  kind: 'json',
  status,
  body,
  headers,
});

/** One JSON document a line. */
export const linesResponse = (values: readonly object[], headers: ResponseHeaders = {}): ApiResponse => ({
  kind: 'text',
  contentType: 'application/x-ndjson',
  text: values.map((value) => `${JSON.stringify(value)}\n`).join(''),
  headers,
});

/** The Idempotency-Key of a request that creates something; undefined: it has none. Throws `invalid-request`. */
export const idempotencyKeyOf = ({ request }: Call): string | undefined =>
  parseIdempotencyKey(request.headers['idempotency-key']);

/** A session for the tenant in the path, with every scope. */
export const sessionOf = async (call: Call): Promise<OperatorTenantSession> =>
  call.api.tenant(call.context(), tenantIdOf(call), call.operator);
