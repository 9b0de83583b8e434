// The port of discovery: where shards may be. It only seeds: a front dials every address it is told and then asks the
// shards themselves who owns what.

export interface Discovery {
  /**
   * Calls back with the whole set of addresses (host:port), at once and at every change, until the returned function
   * is called. The last known set stays when the source cannot be reached.
   */
  watch(onChange: (addresses: readonly string[]) => void): () => void;
}

/**
 * Why a source did not tell: it may not (forbidden), would not (refused), could not be reached (unreachable), broke off
 * (interrupted), or was not understood (invalid).
 */
export const DISCOVERY_FAILURES = Object.freeze([
  'forbidden',
  'refused',
  'unreachable',
  'interrupted',
  'invalid',
] as const);
export type DiscoveryFailure = (typeof DISCOVERY_FAILURES)[number];

/** What is counted of a source. */
export interface DiscoveryObserver {
  /** The source has told or confirmed where shards are. */
  synced(): void;
  failed(reason: DiscoveryFailure): void;
  /** So many addresses are known now. */
  knows(addresses: number): void;
}
