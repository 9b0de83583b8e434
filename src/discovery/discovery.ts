// The port of discovery: the addresses at which shards may be. They are only seeds: a front dials every address, and
// then the shards themselves report which of them owns which slot.

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

/** Counts what happens to a source. */
export interface DiscoveryObserver {
  /** The source has reported or confirmed the addresses. */
  synced(): void;
  failed(reason: DiscoveryFailure): void;
  /** This many addresses are known now. */
  knows(addresses: number): void;
}

/** Addresses from the configuration; they never change. */
export function createStaticDiscovery(addresses: readonly string[]): Discovery {
  return {
    watch(onChange) {
      onChange(addresses);
      return () => {};
    },
  };
}
