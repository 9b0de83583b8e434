// An operation of the operator's API: one that operators alone have, or one of the public interface, mounted under the
// tenant. Both are operations as the pipeline serves them (http/operations/operation.ts), called by an operator.

import { z } from 'zod';
import type { Clock } from '../../core/async/clock.ts';
import { parseIdempotencyKey } from '../../core/idempotency-keys.ts';
import { BODY_BYTES_MAX } from '../../core/limits.ts';
import type { Plans } from '../../core/plans.ts';
import type { Operator, OperatorAccess } from '../../core/scopes.ts';
import type { OperatorApi, OperatorTenantSession, RequestContext } from '../../front/front.ts';
import type {
  Caller,
  Operation,
  OperationReply,
  OperationRequest,
  OperationResponse,
  PublicOperation,
} from '../../http/operations/operation.ts';
import { closedObject } from '../../http/schema/schema-parts.ts';
import { validate } from '../../http/schema/validation.ts';

/** An operator, and one request of theirs. */
export interface OperatorSession extends Caller {
  readonly operator: Operator;
  readonly api: OperatorApi;
  readonly clock: Clock;
  readonly plans: Plans;
  /** The base of the `type` of a problem. */
  readonly errorsBase: string;
  /** From the path, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Whether the client has disconnected. */
  isClosed(): boolean;
  /** The request's id with a full deadline from now on: an operation of several steps calls it once per step. */
  context(): RequestContext;
  /** A session for the tenant in the path, with every scope. */
  tenant(): Promise<OperatorTenantSession>;
}

/** Its path is below /operator/v1. */
export interface OperatorOperation extends Operation<OperatorSession> {
  readonly tag: 'Tenants' | 'Within a tenant' | 'Audit log and changes' | 'Import and export' | 'The cluster';
  readonly access: OperatorAccess;
}

// ---- operations of the public interface ----

const PUBLIC_PREFIX = '/v1';

/** The operation for the tenant in the path. `own`: what the operator's API has called otherwise since before. */
export function withinTenant(
  { scope, reserve: _, ...operation }: PublicOperation,
  own: { readonly id?: string; readonly path?: string; readonly description?: string } = {},
): OperatorOperation {
  const { id = operation.id, description = operation.description } = own;
  const path = own.path ?? operation.path.slice(PUBLIC_PREFIX.length);
  return {
    ...operation,
    id,
    path: `/tenants/{tenantId}${path}`,
    tag: 'Within a tenant',
    description,
    access: operation.method === 'GET' || scope === 'check:read' ? 'read-only' : 'full',
    async answer(session, _context, request, services) {
      const tenant = await session.tenant();
      return operation.answer(tenant, session.context(), request, services);
    },
  };
}

// ---- operations that operators alone have ----

export interface OperatorCall extends OperatorSession {
  readonly request: OperationRequest;
}

type OwnOperation<Shape extends z.ZodRawShape> = Omit<OperatorOperation, 'query' | 'answer'> & {
  readonly query?: Shape;
  /** `query` holds the values of the parameters that `query` of the description declares; there are no others. */
  run(call: OperatorCall, query: z.output<z.ZodObject<Shape>>): Promise<OperationReply>;
};

/** Their fields have no error types of their own. */
const NO_CODES = new Map<PropertyKey, never>();

export function ownOperation<Shape extends z.ZodRawShape = Record<never, never>>({
  run,
  ...operation
}: OwnOperation<Shape>): OperatorOperation {
  const schema = z.object((operation.query ?? {}) as Shape);
  return {
    ...operation,
    answer: (session, _context, request) =>
      run({ ...session, request }, validate(schema, { ...request.query }, NO_CODES)),
  };
}

/** An operation that only reads. */
export const reading = <Shape extends z.ZodRawShape>(
  operation: Omit<OwnOperation<Shape>, 'method' | 'access'>,
): OperatorOperation => ownOperation({ ...operation, method: 'GET', access: 'read-only' });

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

/** A JSON body of this shape. */
export const jsonBody = (name: string, shape: z.ZodRawShape, example: unknown) => ({
  name,
  schema: closedObject(shape),
  bytesMax: BODY_BYTES_MAX,
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

// ---- responses ----

export const jsonResponse = (status: 200 | 201 | 202, body: object): OperationResponse => ({
  status,
  json: JSON.stringify(body),
});

/** One JSON document a line. */
export const linesResponse = (values: readonly object[], feedCursor?: string): OperationResponse => ({
  status: 200,
  contentType: 'application/x-ndjson',
  json: values.map((value) => `${JSON.stringify(value)}\n`).join(''),
  feedCursor,
});

/** The Idempotency-Key of a request that creates something; undefined: it has none. Throws `invalid-request`. */
export const idempotencyKeyOf = ({ request }: OperatorCall): string | undefined =>
  parseIdempotencyKey(request.headers['idempotency-key']);
