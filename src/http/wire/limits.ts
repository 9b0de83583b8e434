// The bounds of the public interface, each with its reason. Those that other rooms keep to as well are in
// core/limits.ts.

/**
 * Of a bulk check: 100 tuples of the longest identifiers are about 220 KiB, and 700 KiB when every character is
 * escaped.
 */
export const BULK_BODY_BYTES_MAX = 1024 * 1024;

/**
 * From this length on (in UTF-16 units) a JSON text is read through before it is parsed. The costliest shorter text
 * takes the parser about a millisecond; reading would make every bulk of ordinary size dearer.
 */
export const JSON_SCANNED_LENGTH_MIN = 16 * 1024;

/** Arrays and objects in each other in a long text: a bulk check needs three, the rest is for unknown fields. */
export const JSON_DEPTH_MAX = 32;

/**
 * Values in a long text: a bulk of 100 checks has 402, the rest is for unknown fields. So many are parsed in some 5 ms.
 */
export const JSON_VALUES_MAX = 4096;

/** How much of a long text is read in one step, in UTF-16 units: some tenths of a millisecond. */
export const JSON_STEP_LENGTH = 64 * 1024;

/**
 * A body up to this length is read without a reservation on the budget of bodies: so many bytes are in memory as soon
 * as their packets have come. 10,000 connections hold 80 MiB with them, if each sends such a body slowly.
 */
export const BODY_UNCLAIMED_BYTES_MAX = 8 * 1024;

/** What a body that is read to be thrown away reserves: what one look at its socket brings. */
export const DISCARD_RESERVATION_BYTES = 64 * 1024;

/** A body whose length is not announced reserves this much at a time. */
export const BODY_CLAIM_BYTES = 64 * 1024;

/**
 * An answer up to this length is made without a reservation on the budget of responses: the system takes it from us at
 * once.
 */
export const RESPONSE_UNCLAIMED_BYTES_MAX = 8 * 1024;

/**
 * Bytes of a connection up to which they are not counted as held: a request of ordinary size that waits for its turn.
 */
export const HELD_UNCOUNTED_BYTES_MAX = 4 * 1024;

export interface HttpBounds {
  /** How long an answer may take once the request has arrived. */
  readonly deadlineMs: number;
  /** Of request line and header together. */
  readonly headerBytesMax: number;
  /** For the header to arrive, from the connection or the end of the previous request on. */
  readonly headersTimeoutMs: number;
  /** For the whole request to arrive. */
  readonly requestTimeoutMs: number;
  /** How often the two are looked at. */
  readonly timeoutCheckIntervalMs: number;
  /** Longer than the 60 s for which common load balancers keep idle connections, so that they close first. */
  readonly keepAliveTimeoutMs: number;
  /**
   * A connection ends with the answer to a request that came when it was older than an age of its own, drawn from the
   * upper half of this: so that clients spread over new fronts soon, and not all at once.
   */
  readonly connectionAgeMaxMs: number;
  /** A peer that neither sends nor takes anything for so long during a request is dropped. */
  readonly stallTimeoutMs: number;
  /** Connections that are served. */
  readonly connectionsMax: number;
  /** Further ones that get a 503 to their first request; those beyond are closed unanswered. */
  readonly refusedConnectionsMax: number;
  /** From when on an idle connection gives way to a new one of the same client, where all places are taken. */
  readonly idleDisplaceableMs: number;
  /** Bytes of all connections that have been received and wait for their turn, or are a part of a header. */
  readonly heldBytesMax: number;
  /**
   * Bytes of bodies that are being read: of all tenants, and of one. With text and value, some four times as much
   * memory.
   */
  readonly bodyBytesMax: number;
  readonly tenantBodyBytesMax: number;
  /**
   * Bytes of answers that are being made or have not been taken: of all tenants, and of one. Some twice as much memory.
   */
  readonly responseBytesMax: number;
  readonly tenantResponseBytesMax: number;
  /** How long `close` waits for requests in flight. */
  readonly closeTimeoutMs: number;
  /**
   * After an early answer: how long and how much of a body is still read and thrown away, so that the client gets to
   * read the answer.
   */
  readonly discardTimeoutMs: number;
  readonly discardBytesMax: number;
  /**
   * Bytes of bodies that are read and thrown away at once: of all clients, and of one address. Who waits longer than
   * for the above is cut off.
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
