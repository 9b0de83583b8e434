// The bounds of the public interface, each with its reason. Those shared with other parts are in core/limits.ts.

/**
 * From this length on (in UTF-16 units) a JSON text is scanned before it is parsed. The costliest shorter text takes
 * the parser about a millisecond; scanning would make every bulk check of ordinary size slower.
 */
export const JSON_SCANNED_LENGTH_MIN = 16 * 1024;

/** How much of a long text is scanned in one step, in UTF-16 units: tenths of a millisecond. */
export const JSON_STEP_LENGTH = 64 * 1024;

/**
 * A body up to this length is read without a reservation on the budget of bodies: this many bytes are in memory as soon
 * as their packets have arrived. 10,000 connections together hold 80 MiB, if each sends such a body slowly.
 */
export const BODY_UNCLAIMED_BYTES_MAX = 8 * 1024;

/** Reservation for a body that is read only to be discarded: what one read of its socket brings. */
export const DISCARD_RESERVATION_BYTES = 64 * 1024;

/** A body whose length is not announced reserves this much at a time. */
export const BODY_CLAIM_BYTES = 64 * 1024;

/**
 * A response up to this length is built without a reservation on the budget of responses: the operating system takes it
 * at once.
 */
export const RESPONSE_UNCLAIMED_BYTES_MAX = 8 * 1024;

/** Up to this many bytes of a connection do not count as held: a request of ordinary size that waits for its turn. */
export const HELD_UNCOUNTED_BYTES_MAX = 4 * 1024;

export interface HttpBounds {
  /** How long a response may take once the request has arrived. */
  readonly deadlineMs: number;
  /** Bytes of request line and header together. */
  readonly headerBytesMax: number;
  /** For the header to arrive, from the connection or from the end of the previous request on. */
  readonly headersTimeoutMs: number;
  /** For the whole request to arrive. */
  readonly requestTimeoutMs: number;
  /** How often the two timeouts are checked. */
  readonly timeoutCheckIntervalMs: number;
  /** Longer than the 60 s for which common load balancers keep idle connections, so that they close first. */
  readonly keepAliveTimeoutMs: number;
  /**
   * A connection ends with the response to a request that came when the connection was older than its own limit, drawn
   * from the upper half of this. Clients thus spread over new fronts soon, and not all at once.
   */
  readonly connectionAgeMaxMs: number;
  /** A peer that neither sends nor takes anything for this long during a request is dropped. */
  readonly stallTimeoutMs: number;
  /** Connections that are served. */
  readonly connectionsMax: number;
  /** Further connections that get a 503 to their first request; those beyond are closed without a response. */
  readonly refusedConnectionsMax: number;
  /** How long a connection is idle before it gives way to a new one of the same client, if all places are taken. */
  readonly idleDisplaceableMs: number;
  /** Bytes of all connections that have been received and wait for their turn, or are part of a header. */
  readonly heldBytesMax: number;
  /**
   * Bytes of bodies that are being read: of all tenants, and of one. With text and value, about four times as much
   * memory.
   */
  readonly bodyBytesMax: number;
  readonly tenantBodyBytesMax: number;
  /**
   * Bytes of responses that are being built or have not been taken: of all tenants, and of one. About twice as much
   * memory.
   */
  readonly responseBytesMax: number;
  readonly tenantResponseBytesMax: number;
  /** How long `close` waits for requests in flight. */
  readonly closeTimeoutMs: number;
  /**
   * After an early response: how long, and how much of a body, the front still reads and discards, so that the client
   * can read the response.
   */
  readonly discardTimeoutMs: number;
  readonly discardBytesMax: number;
  /**
   * Bytes of bodies that are being discarded: of all clients, and of one address. A client that waits longer than the
   * time above is cut off.
   */
  readonly discardsBytesMax: number;
  readonly addressDiscardsBytesMax: number;
}

export const HTTP_BOUNDS: HttpBounds = Object.freeze({
  deadlineMs: 10_000,
  headerBytesMax: 16 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  timeoutCheckIntervalMs: 1_000,
  keepAliveTimeoutMs: 75_000,
  connectionAgeMaxMs: 10_000,
  stallTimeoutMs: 60_000,
  connectionsMax: 10_000,
  refusedConnectionsMax: 1_000,
  idleDisplaceableMs: 1_000,
  heldBytesMax: 32 * 1024 * 1024,
  bodyBytesMax: 32 * 1024 * 1024,
  tenantBodyBytesMax: 4 * 1024 * 1024,
  responseBytesMax: 64 * 1024 * 1024,
  tenantResponseBytesMax: 8 * 1024 * 1024,
  closeTimeoutMs: 10_000,
  discardTimeoutMs: 1_000,
  discardBytesMax: 1024 * 1024,
  discardsBytesMax: 4 * 1024 * 1024,
  addressDiscardsBytesMax: 1024 * 1024,
});
