// The shape of an operation: what the pipeline needs to serve it, beside what the OpenAPI file says about it, so that
// neither changes without the other. Invariant: each operation is registered once, in operation-table.ts.

import type { z } from 'zod';
import type { ErrorCode } from '../../core/errors.ts';
import type { Scope } from '../../core/scopes.ts';
import type { RequestContext, TenantSession } from '../../front/front.ts';
import type { ConditionHeaders } from '../../rules/rules-writes.ts';
import type { ResponseStream, StreamListener } from '../wire/response-stream.ts';

/** The heading under which readers find an operation. */
export type OperationTag =
  | 'Checks'
  | 'Grants'
  | 'Namespaces'
  | 'Keys'
  | 'Rules'
  | 'Changes'
  | 'AuthZEN'
  | 'Description';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** The request while it is being answered. */
export interface OpenRequest {
  /** Calls back if the client disconnects before its response; perhaps also once the response is sent. */
  onceClosed(listener: () => void): void;
  /** For how long the client asked it to wait, in ms: set by an operation that waits. */
  waitedMs: number;
}

/** The headers that operations read. */
export interface OperationHeaders extends ConditionHeaders {
  readonly accept?: string | undefined;
  readonly 'last-event-id'?: string | readonly string[] | undefined;
  readonly 'idempotency-key'?: string | readonly string[] | undefined;
}

/** What the client sent, once the pipeline has checked that it is complete, within its bounds and well-formed. */
export interface OperationRequest {
  /** The value of the JSON body; undefined if the operation takes none, or if the query has taken its place. */
  readonly body: unknown;
  /** Every parameter is known to the operation and occurs once. */
  readonly query: Readonly<Record<string, string>>;
  readonly pathParameters: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** As received; of repeated ones, all values in one list. */
  readonly headers: OperationHeaders;
  readonly open: OpenRequest;
}

export interface OperationResponse {
  readonly status: 200 | 201 | 204 | 304;
  /** Of what the path stands for, as in the header `ETag`. */
  readonly etag?: string;
  /** Of the change feed, as in the header `X-Service-Cursor`. */
  readonly feedCursor?: string | undefined;
  /** For developers, as in the header `X-Service-Warning`. */
  readonly warning?: string | undefined;
  /**
   * JSON text; empty for a 204 or a 304. A function builds text that takes long, and runs in the turn of the tenant.
   */
  readonly json: string | (() => string);
  /** Reserved before `json` is called; absent: the operation has said what it may take. */
  readonly bytesMax?: number;
}

/** A 200 that stays open. */
export interface StreamedResponse {
  readonly contentType: string;
  readonly listener: StreamListener & {
    /** Called once, when the head has been sent. */
    attach(response: ResponseStream): void;
  };
}

export interface SuccessDocumentation {
  readonly status: 200 | 201 | 204 | 304;
  /** The response has the header `ETag`. */
  readonly etag?: boolean;
  /** The response has the header `X-Service-Cursor`. */
  readonly feedCursor?: boolean;
  /** The response may have the header `X-Service-Warning`. */
  readonly warns?: boolean;
  readonly description: string;
  /** The name of the schema under `components/schemas`, and the schema; undefined: no body. */
  readonly schema?: { readonly name: string; readonly schema: z.ZodType };
  readonly example?: unknown;
  /** What the response is instead, if the client asks for it: it stays open. */
  readonly streams?: readonly {
    readonly contentType: string;
    readonly name: string;
    readonly schema: z.ZodType;
    readonly example: string;
  }[];
}

export interface Operation {
  /** The `operationId` of the OpenAPI file and the label in metrics. */
  readonly id: string;
  readonly method: Method;
  /** As in OpenAPI: `/v1/keys/{key_id}`. */
  readonly path: string;
  /** Undefined: any valid key. */
  readonly scope: Scope | undefined;
  /** Draws on the reserve of the calling key and not on the plan's window. */
  readonly reserve?: boolean;
  readonly tag: OperationTag;
  readonly summary: string;
  readonly description: string;
  readonly body:
    | {
        readonly name: string;
        readonly schema: z.ZodType;
        readonly bytesMax: number;
        readonly example: unknown;
        /** The parameters of the query may take its place; the operation then gets no body. Both are refused. */
        readonly replaceableByQuery?: boolean;
      }
    | undefined;
  /** Its fields are the parameters that the operation knows. */
  readonly query: z.ZodObject | undefined;
  /** The headers that the operation reads. */
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly example: string }>>;
  readonly queryExamples?: Readonly<Record<string, unknown>>;
  readonly pathParameters?: Readonly<Record<string, { readonly description: string; readonly example: string }>>;
  /** Bytes that a response may have; absent: never more than a few KiB. */
  responseBytesMax?(query: Readonly<Record<string, string>>, body: unknown, headers: OperationHeaders): number;
  readonly successes: readonly SuccessDocumentation[];
  /** In addition to those that every operation can meet. */
  readonly errors: readonly ErrorCode[];
  /**
   * Parses the request and answers it through the session. Throws GrantdError at once if the request itself is at
   * fault: the owner has not been asked then, and the pipeline asks it to confirm the key first. Rejections of the
   * returned promise come from the owner.
   */
  answer(
    session: TenantSession,
    context: RequestContext,
    request: OperationRequest,
  ): Promise<OperationResponse | StreamedResponse>;
}

/** Each adds to the count of checks with that outcome. */
export interface CheckOutcomes {
  authorized(count: number): void;
  denied(count: number): void;
  failed(count: number): void;
}
