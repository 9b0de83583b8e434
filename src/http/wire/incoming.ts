// A request as the pipeline sees it, and the way back for its answer, whoever reads its bytes: Node's server, which
// takes whatever HTTP/1.1 allows (node-incoming.ts), or the fast path, which takes the common form at half
// the price (plain/).

import type { Socket } from 'node:net';
import type { GrantdError } from '../../core/errors.ts';
import type { Reservation } from './byte-budget.ts';

/** The headers that anything here looks at. */
export interface RequestHeaders {
  readonly authorization?: string | undefined;
  readonly 'content-type'?: string | undefined;
  readonly 'content-encoding'?: string | undefined;
  readonly expect?: string | undefined;
  readonly 'x-forwarded-for'?: string | readonly string[] | undefined;
  readonly traceparent?: string | readonly string[] | undefined;
  readonly tracestate?: string | readonly string[] | undefined;
}

export type PathParameters = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Of a path that has none. */
export const NO_PARAMETERS: PathParameters = Object.freeze({});

/** `text` counts where there is no error. */
export type BodyDone = (error: GrantdError | undefined, text: string) => void;

export interface WireResponse {
  readonly status: number;
  /** Header lines, each with its CRLF; nothing in them comes from a client. */
  readonly head: string;
  readonly body: string;
  /** The server takes no more requests: the connection is to end with this answer. */
  readonly last: boolean;
  /** Of the budget of responses; released once the client has taken the answer or is gone. */
  readonly reservation: Reservation | undefined;
}

export interface Incoming {
  readonly method: string;
  /** The target as it came, with its query. */
  readonly url: string;
  readonly httpVersion: string;
  readonly headers: RequestHeaders;
  readonly socket: Socket;
  readonly pathParameters: PathParameters;
  /** On the monotonic clock: its head had arrived. */
  readonly startedAtMs: number;
  /** The whole body as text, which `tenantId` answers for. Calls `done` once, unless the client goes away first. */
  readBody(bytesMax: number, tenantId: string, done: BodyDone): void;
  /** The text of the body is not needed any more. */
  releaseBody(): void;
  /** Sends the answer; to be called once. */
  send(answer: WireResponse): void;
  /** Told where the client goes away before its answer; it may be told once the answer is sent, too. */
  onceClosed(listener: () => void): void;
}
