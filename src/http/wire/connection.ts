// One connection of a client, served by the fast path or by Node's server.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { GrantdError } from '../../core/errors.ts';

/** Lets one request of a connection be served at a time (request-gate.ts). */
export interface Gate {
  /** Whether a further request has arrived, at least in part. */
  readonly hasMore: boolean;
  /** Calls `serve` once the requests before this one have been answered. */
  admit(request: IncomingMessage, response: ServerResponse, serve: () => void): void;
  readBody(): void;
  discardBody(): void;
  skipBody(): void;
  /** From now on, bytes that arrive are discarded, up to `bytesMax`. */
  discard(bytesMax: number): void;
}

export interface Connection {
  readonly socket: Socket;
  /** Beyond the number of connections that are served: its first request is refused, and the connection is closed. */
  readonly surplus: boolean;
  /** On the monotonic clock: the response to a later request ends the connection. */
  readonly oldAtMs: number;
  /** The response to the newest request on it. */
  lastResponse: ServerResponse | undefined;
  /** Set while a body is being read: answers that request with the error, in its turn. False: the body is complete. */
  failBody: ((error: GrantdError) => boolean) | undefined;
  /** Why nothing more can be read from it. */
  failure: GrantdError | undefined;
  /**
   * Ends the connection unless a request is in flight; undefined: Node's server has the connection, and does that.
   */
  endIfIdle: (() => void) | undefined;
  /** Set once Node's server has the connection. */
  gate: Gate | undefined;
  /** Whether a request is in flight, or its response is being taken. */
  busy: boolean;
  /** On the monotonic clock: when it was opened or was last active. */
  activeAtMs: number;
  /** Its bytes that wait in memory. */
  heldBytes: number;
  /** The turn key under which its requests are read: its client's, as far as that is known. */
  readonly turnKey: string;
}

/** How long a client that always has a further request in flight keeps an old connection. */
const AGE_GRACE_MS = 10_000;

/**
 * Whether a connection is old enough for the response to this request to end it. `hasMore`: a further
 * request has arrived, at least in part.
 */
export const ageEnds = ({ oldAtMs }: Connection, startedAtMs: number, hasMore: boolean): boolean =>
  startedAtMs > (hasMore ? oldAtMs + AGE_GRACE_MS : oldAtMs);

/** Describes a connection that has just been opened. */
export const createConnection = (
  socket: Socket,
  {
    nowMs,
    oldAtMs,
    surplus = false,
    turnKey = '',
  }: { readonly nowMs: number; readonly oldAtMs: number; readonly surplus?: boolean; readonly turnKey?: string },
): Connection => ({
  socket,
  surplus,
  oldAtMs,
  lastResponse: undefined,
  failBody: undefined,
  failure: undefined,
  endIfIdle: undefined,
  gate: undefined,
  busy: false,
  activeAtMs: nowMs,
  heldBytes: 0,
  turnKey,
});
