// The port of discovery: where shards may be. It only provides seeds: a front dials every address it gets, and then the
// shards themselves report who owns what.

export interface Discovery {
  /**
   * Calls `onChange` with the whole set of addresses (host:port), at once and at every change, until the returned
   * function is called. If the source cannot be reached, the last known set stays.
   */
  watch(onChange: (addresses: readonly string[]) => void): () => void;
}

/**
 * Why a source gave no addresses: access denied (forbidden), an error response (refused), no connection (unreachable),
 * a broken connection (interrupted), or an unexpected response (invalid).
 */
export const DISCOVERY_FAILURES = Object.freeze([
  'forbidden',
  'refused',
  'unreachable',
  'interrupted',
  'invalid',
] as const);
export type DiscoveryFailure = (typeof DISCOVERY_FAILURES)[number];

/** Receives what is counted about a source. */
export interface DiscoveryObserver {
  /** The source has reported or confirmed where shards are. */
  synced(): void;
  failed(reason: DiscoveryFailure): void;
  /** This many addresses are known now. */
  knows(addresses: number): void;
}
