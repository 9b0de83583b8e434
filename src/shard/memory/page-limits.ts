// The bounds within which subjects are held in memory and read from the store.

export interface PageLimits {
  /** Live rows and tombstone rows of a subject up to which its page is held whole, and tuples of a sparse page. */
  readonly rowsMax: number;
  /** Estimated bytes up to which a page is held whole. */
  readonly bytesMax: number;
  /** Rows in one read of the store: what a step of the event loop takes in. */
  readonly rowsPerRead: number;
  /** Reads of the store about a sparse page after which the rest of it is read. */
  readonly readsBeforeWhole: number;
  /** Rows in one read of the store for a listing, however many it asks for. */
  readonly rowsPerListing: number;
}

/**
 * 10,000 rows of short objects are 1.5 MiB; of the longest ones they would be 12. 256 rows are taken in within a
 * millisecond or two, and a page that is read to its end has been worth a 32nd of its reads before.
 */
export const PAGE_LIMITS: PageLimits = Object.freeze({
  rowsMax: 10_000,
  bytesMax: 2 * 1024 * 1024,
  rowsPerRead: 256,
  readsBeforeWhole: 32,
  // The longest page of a listing, and one row more: whether there is a next page.
  rowsPerListing: 1001,
});
