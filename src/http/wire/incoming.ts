// A request as the pipeline sees it, and the way back for its response, whichever parser reads its bytes: that of
// Node's server, which accepts everything that HTTP/1.1 allows (node-incoming.ts), or the fast path, which takes the
// common form at half the cost (fast-path/).

import type { Socket } from 'node:net';
import type { GrantdError } from '../../core/errors.ts';
import type { Reservation } from './byte-budget.ts';
import type { ResponseStream, StreamListener } from './response-stream.ts';

/** The headers that any code here reads. */
export interface RequestHeaders {
  readonly accept?: string | undefined;
  readonly authorization?: string | undefined;
  readonly 'content-type'?: string | undefined;
  readonly 'content-encoding'?: string | undefined;
  readonly expect?: string | undefined;
  readonly 'last-event-id'?: string | readonly string[] | undefined;
  readonly 'if-match'?: string | undefined;
  readonly 'if-none-match'?: string | undefined;
  readonly 'x-forwarded-for'?: string | readonly string[] | undefined;
  readonly traceparent?: string | readonly string[] | undefined;
  readonly tracestate?: string | readonly string[] | undefined;
  readonly 'idempotency-key'?: string | readonly string[] | undefined;
  readonly 'x-request-id'?: string | readonly string[] | undefined;
}

export type PathParameters = Readonly<Record<string, string | readonly string[] | undefined>>;

/** For a path that has none. */
export const NO_PARAMETERS: PathParameters = Object.freeze({});

/** `text` counts only if there is no error. */
export type BodyDone = (error: GrantdError | undefined, text: string) => void;

export type BodyEncoding = 'utf8' | 'latin1';

export interface WireResponse {
  readonly status: number;
  /** Header lines, each with its CRLF; of a client there is at most the id of its request, which has been checked. */
  readonly head: string;
  /** Bytes are those of a file. */
  readonly body: string | Buffer;
  /** The server accepts no more requests: the connection ends with this response. */
  readonly last: boolean;
  /** Bytes reserved for the response; released once the client has taken the response or has disconnected. */
  readonly reservation: Reservation | undefined;
}

export interface Incoming {
  readonly method: string;
  /** The target as received, with its query. */
  readonly url: string;
  readonly httpVersion: string;
  readonly headers: RequestHeaders;
  readonly socket: Socket;
  readonly pathParameters: PathParameters;
  /** When its head had arrived, on the monotonic clock. */
  readonly startedAtMs: number;
  /**
   * Reads the whole body as text, on the account of `tenantId`. Calls `done` once, unless the client disconnects first.
   * `latin1`: each character stands for one byte.
   */
  readBody(bytesMax: number, tenantId: string, done: BodyDone, encoding?: BodyEncoding): void;
  /** The text of the body is no longer needed. */
  releaseBody(): void;
  /** Sends the response; to be called once. */
  send(answer: WireResponse): void;
  /**
   * Answers with a 200 that stays open, in place of `send`. `head`: header lines, each with its CRLF. The connection
   * serves no other request afterwards.
   */
  openStream(head: string, listener: StreamListener): ResponseStream;
  /**
   * Answers with a 200 whose body is pulled as fast as the client reads, in place of `send`. `head`: as above. Rejects
   * if a chunk failed: before the head was sent, or breaking the connection.
   */
  sendChunks?(head: string, chunks: AsyncIterable<string>): Promise<void>;
  /** Calls back if the client disconnects before its response; perhaps also once the response is sent. */
  onceClosed(listener: () => void): void;
}
