// An operation of the public interface: what the pipeline needs to serve it, beside what the OpenAPI document says
// about it, so that neither changes without the other. Invariant: each operation is registered once, in
// operation-table.ts.

import type { Clock } from '../../core/async/clock.ts';
import type { Scope } from '../../core/scopes.ts';
import { unknownNamespaceWarnings, warningHeaderOf } from '../../core/service-warnings.ts';
import type { NotedProblem, RequestContext, TenantSession } from '../../front/front.ts';
import type { ConditionHeaders } from '../../rules/rules-writes.ts';
import type { OperationDescription, RequestBodyDescription } from '../schema/operation-description.ts';
import type { ChangeStreams } from '../streams/change-streams.ts';
import type { ResponseStream, StreamListener } from '../wire/response-stream.ts';

/** The request while it is being answered. */
export interface OpenRequest {
  /** Calls back if the client disconnects before its response; perhaps also once the response is sent. */
  onceClosed(listener: () => void): void;
  /** How long the client asked the operation to wait, in ms: set by an operation that waits. */
  waitedMs: number;
}

/** The headers that operations read. */
export interface OperationHeaders extends ConditionHeaders {
  readonly accept?: string | undefined;
  readonly 'last-event-id'?: string | readonly string[] | undefined;
  readonly 'idempotency-key'?: string | readonly string[] | undefined;
}

/** A request that the pipeline has found complete, within its bounds and well-formed. */
export interface OperationRequest {
  /**
   * The value of the JSON body, or a TextBody; undefined if the operation takes none, or if the query has replaced it.
   */
  readonly body: unknown;
  /** Every parameter is known to the operation and occurs once. */
  readonly query: Readonly<Record<string, string>>;
  readonly pathParameters: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** A repeated header has all its values in one list. */
  readonly headers: OperationHeaders;
  readonly open: OpenRequest;
}

/** A body in the text form that the operation takes besides JSON. No JSON value is one. */
export class TextBody {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export interface OperationResponse {
  readonly status: 200 | 201 | 202 | 204 | 304;
  /** `application/json` unless given. */
  readonly contentType?: string;
  /** The header `ETag`. */
  readonly etag?: string;
  /** The header `X-Service-Cursor`: a cursor of the change feed. */
  readonly feedCursor?: string | undefined;
  /** The header `X-Service-Warning`, for developers. */
  readonly warning?: string | undefined;
  /**
   * JSON text, or lines of it, or text of the content type; empty for a 204 or a 304. A function builds text that takes
   * long, and runs in the turn of the tenant.
   */
  readonly json: string | (() => string);
  /** Reserved before `json` is called; absent: `responseBytesMax` has already covered it. */
  readonly bytesMax?: number;
}

/** Each adds to the count of checks with that outcome. */
export interface CheckOutcomes {
  authorized(count: number): void;
  denied(count: number): void;
  failed(count: number): void;
}

/** What operations use besides the session: the same for every request. */
export interface OperationServices {
  readonly clock: Pick<Clock, 'wallMs' | 'monotonicMs'>;
  readonly outcomes: CheckOutcomes;
  /** The document that `GET /openapi.json` returns. */
  readonly openapiText: string;
}

/** The same at the public door. */
export interface PublicServices extends OperationServices {
  readonly streams: Pick<ChangeStreams, 'open' | 'awaitPage'>;
}

/** A 200 that stays open. */
export interface StreamedResponse {
  readonly contentType: string;
  readonly listener: StreamListener & {
    /** Called once, when the head has been sent. */
    attach(response: ResponseStream): void;
  };
}

/** A 200 whose body is pulled as fast as the client reads. If a later chunk fails, the connection breaks. */
export interface ChunkedResponse {
  readonly contentType: string;
  readonly feedCursor?: string | undefined;
  readonly chunks: AsyncIterable<string>;
}

export type OperationReply = OperationResponse | StreamedResponse | ChunkedResponse;

/** Whose requests a door serves: the holder of a key, or an operator. */
export interface Caller {
  /** On whose account bodies, responses and turns are. */
  readonly tenantId: string;
  /** Resolves if it may call now. */
  confirm(context: RequestContext): Promise<void>;
  /** Hears of each of its requests that was refused or failed. */
  noteProblem?(problem: NotedProblem): void;
}

/** The context of the calls that a request makes, and the request itself. */
export type OpenContext = RequestContext & OpenRequest;

export type OperationBody = RequestBodyDescription & {
  readonly bytesMax: number;
  /** Values in a long JSON text; absent: `JSON_VALUES_MAX`. */
  readonly valuesMax?: number;
};

/** An operation, whichever door serves it. */
export interface Operation<Session extends Caller, Services = OperationServices> extends OperationDescription {
  readonly body?: OperationBody;
  /** Bytes that a response may have; absent: never more than a few KiB. */
  responseBytesMax?(request: OperationRequest, services: Services): number;
  /**
   * Parses the request and answers it through the session. Throws GrantdError at once if the request itself is at
   * fault: the owner has not been called then, and the pipeline has it confirm the key first. Rejections of the
   * returned promise come from the owner.
   */
  answer(
    session: Session,
    context: RequestContext,
    request: OperationRequest,
    services: Services,
  ): Promise<OperationReply>;
}

/** Its `id` is also the label in metrics. The operator's API has it too, under the tenant, if its table lists it. */
export interface PublicOperation<Services = OperationServices> extends Operation<TenantSession, Services> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly tag: 'Checks' | 'Grants' | 'Namespaces' | 'Keys' | 'Rules' | 'Changes' | 'AuthZEN' | 'Description';
  readonly description: string;
  /** Undefined: any valid key may call it. */
  readonly scope: Scope | undefined;
  /** The call draws on the reserve of the calling key and not on the plan's window. */
  readonly reserve?: boolean;
}

/** The response, with the warnings that came with the answer of the owner. */
export function withWarnings(context: RequestContext, response: OperationResponse): OperationResponse {
  const warnings = unknownNamespaceWarnings(context);
  return warnings.length === 0 ? response : { ...response, warning: warningHeaderOf(warnings) };
}
