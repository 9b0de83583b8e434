// The form of what the OpenAPI document says about an operation of the operator's API.

import type { z } from 'zod';
import type { ErrorCode } from '../../../core/errors.ts';
import { WARNING_HEADER } from '../../../core/service-warnings.ts';
import { closedObject } from '../../../http/schema/closed-object.ts';

interface Named {
  readonly name: string;
  readonly schema: z.ZodType;
}

/** Headers of responses, and how their descriptions are called. */
export const HEADER_NAMES = Object.freeze({
  ETag: 'ETag',
  'X-Service-Cursor': 'FeedCursor',
  [WARNING_HEADER]: 'Warning',
});

export interface OperatorSuccess {
  readonly status: 200 | 201 | 202 | 204;
  readonly description: string;
  /** Of a JSON body; undefined: it has none. */
  readonly schema?: Named;
  /** Further content types, each with what one of its lines is. */
  readonly lines?: Readonly<Record<string, Named>>;
  /** The response has this header, or may have it. */
  readonly header?: keyof typeof HEADER_NAMES;
}

export interface OperatorDocumentation {
  readonly tag: 'Tenants' | 'Within a tenant' | 'Audit log and changes' | 'Import and export' | 'The cluster';
  readonly summary: string;
  readonly description?: string;
  readonly query?: Readonly<Record<string, z.ZodType>>;
  /** The parameters of the query without which the request is refused. */
  readonly required?: readonly string[];
  readonly body?: Named & { readonly example: unknown; readonly contentType?: string };
  /** Headers that the operation reads. */
  readonly headers?: readonly ('Idempotency-Key' | 'If-Match' | 'Accept')[];
  readonly successes: readonly OperatorSuccess[];
  /** In addition to those that every operation, or every one with a body, or on a tenant, can meet. */
  readonly errors?: readonly ErrorCode[];
}

/** A JSON body of that shape. */
export const body = (name: string, shape: Readonly<Record<string, z.ZodType>>, example: unknown) => ({
  name,
  schema: closedObject(shape),
  example,
});
/** A response with a JSON body. */
export const ok = (name: string, schema: z.ZodType, description: string): OperatorSuccess => ({
  status: 200,
  description,
  schema: { name, schema },
});
export const warns = (success: OperatorSuccess): OperatorSuccess => ({ ...success, header: WARNING_HEADER });
