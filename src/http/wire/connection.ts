// One connection of a client, whichever way its requests are served.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { GrantdError } from '../../core/errors.ts';

/** Lets one request of a connection be served at a time (request-gate.ts). */
export interface Gate {
  /** Whether a further request has come, at least in part. */
  readonly hasMore: boolean;
  /** `serve` is called once the requests before this one have been answered. */
  admit(request: IncomingMessage, response: ServerResponse, serve: () => void): void;
  readBody(): void;
  skipBody(): void;
}

export interface Connection {
  readonly socket: Socket;
  /** Beyond the number that is served: its first request is refused and the connection closed. */
  readonly surplus: boolean;
  /** On the monotonic clock: the answer to a request that comes later ends it. */
  readonly oldAtMs: number;
  /** The answer to the newest request on it. */
  lastResponse: ServerResponse | undefined;
  /**
   * Set while a body is being read: answers that request with the error, in its turn; false where the body is whole.
   */
  failBody: ((error: GrantdError) => boolean) | undefined;
  /** Why nothing more can be read from it. */
  failure: GrantdError | undefined;
  /** Ends it unless a request is in flight; undefined: Node's server does that, or nobody. */
  endIfIdle: (() => void) | undefined;
  /** Once Node's server has it. */
  gate: Gate | undefined;
  /** Whether a request is in flight, or its answer being taken. */
  busy: boolean;
  /** On the monotonic clock: when it was opened or last had something to do. */
  activeAtMs: number;
  /** Of it, waiting in memory. */
  heldBytes: number;
  /** Whose turn it is to have a request of this connection read: its client's, as far as that can be told. */
  readonly turnKey: string;
}

/** How long a client that always has a further request on its way keeps an old connection. */
const AGE_GRACE_MS = 10_000;

/**
 * Whether a connection is to end for its age with the answer to a request, whatever that says. `hasMore`: a further
 * request has come, at least in part.
 */
export const ageEnds = ({ oldAtMs }: Connection, startedAtMs: number, hasMore: boolean): boolean =>
  startedAtMs > (hasMore ? oldAtMs + AGE_GRACE_MS : oldAtMs);

/** One that has just been opened. */
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
