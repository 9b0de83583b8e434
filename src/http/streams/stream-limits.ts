// The bounds of streams of changes, each with its reason.

/**
 * Streams, and pages that wait, of one front. Each takes a connection, of which a front serves 10,000, and up to
 * 10 KiB: the rest of the connections is for requests.
 */
export const STREAMS_MAX = 6000;

/** Every half second, a share of the streams gets a checkpoint; each stream gets one every 12 s. */
export const TICK_MS = 500;
export const TICKS_PER_CHECKPOINT = 24;

/** A client that takes nothing for this long, although a part waits for it, is cut off. */
export const STALL_MS = 30_000;

/**
 * Bytes of changes that clients have not taken: of one tenant, and of all. Bytes that streams share count once. Beyond
 * the bound, the client that has taken nothing for longest is cut off.
 */
export const TENANT_BYTES_MAX = 8 * 1024 * 1024;
export const BYTES_MAX = 32 * 1024 * 1024;

/** Batches that wait in one stream: the feed delivers one every 25 ms at most, and a busy process sends them later. */
export const QUEUE_MAX = 4;

/** UTF-16 units of one part of a stream, unless a single change is longer: what a socket takes at once. */
export const PART_LENGTH = 16 * 1024;

/** Streams to which one step sends: each costs about ten microseconds. */
export const STREAMS_PER_STEP = 16;

/** A front that is closing ends its streams in this many ticks: less than it waits for load balancers by default. */
export const DRAIN_TICKS = 8;

/** When clients reconnect after a stream that ended without a fault of theirs: drawn from this range. */
export const RETRY_MS_MIN = 500;
export const RETRY_MS_MAX = 3000;

/** When a client whose tenant has all its streams should try again: one of them may have ended. */
export const TOO_MANY_RETRY_SECONDS = 5;
