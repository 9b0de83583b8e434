// What an OpenAPI document says about an operation. The operations of both interfaces extend this type, so that each
// is described next to the code that serves it.

import type { z } from 'zod';
import type { ErrorCode } from '../../core/errors.ts';

/** A body of a request or a response. */
export interface BodyDescription {
  /** The name of the schema under `components/schemas`. */
  readonly name: string;
  readonly schema: z.ZodType;
  readonly example?: unknown;
  /** JSON unless given. */
  readonly contentType?: string;
  /** The body is text, and the schema describes each of its lines. */
  readonly lines?: boolean;
}

export interface RequestBodyDescription extends BodyDescription {
  readonly bytesMax?: number;
  /** The form that the body may have instead of JSON. */
  readonly text?: BodyDescription & { readonly contentType: string };
  /** Query parameters may replace the body; the operation then gets no body. A request with both is refused. */
  readonly replaceableByQuery?: boolean;
}

export interface SuccessDescription {
  readonly status: 200 | 201 | 202 | 204 | 304;
  readonly description: string;
  /** The body in each of the content types that a client may ask for; none: the response has no body. */
  readonly bodies: readonly BodyDescription[];
  /** Headers that the response has, or may have, besides those of every response. */
  readonly header?: ResponseHeader | readonly ResponseHeader[] | undefined;
}

type ResponseHeader = 'ETag' | 'X-Service-Cursor' | 'X-Service-Warning';

export type ParameterDescriptions = Readonly<
  Record<string, { readonly description: string; readonly example: string }>
>;

export interface OperationDescription {
  /** The `operationId`. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** In the form of OpenAPI: `/v1/keys/{key_id}`. */
  readonly path: string;
  readonly pathParameters?: ParameterDescriptions;
  /** The heading under which readers find the operation. */
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly query?: z.ZodRawShape;
  readonly queryExamples?: Readonly<Record<string, string>>;
  readonly headers?: ParameterDescriptions;
  readonly body?: RequestBodyDescription;
  readonly successes: readonly SuccessDescription[];
  /** In addition to those that every operation can return. */
  readonly errors?: readonly ErrorCode[];
}

/** A success with one form of body, or with none. */
export function success(
  status: SuccessDescription['status'],
  description: string,
  body?: BodyDescription & Pick<SuccessDescription, 'header'>,
): SuccessDescription {
  if (body === undefined) return { status, description, bodies: [] };
  const { header, ...described } = body;
  return { status, description, bodies: [described], header };
}
