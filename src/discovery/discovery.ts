// The port of discovery: where shards may be. It only seeds: a front dials every address it is told and then asks the
// shards themselves who owns what.

export interface Discovery {
  /**
   * Calls back with the whole set of addresses (host:port), at once and at every change, until the returned function
   * is called. The last known set stays when the source cannot be reached.
   */
  watch(onChange: (addresses: readonly string[]) => void): () => void;
}
