// The port of the counts that fronts share: fixed windows by key, out of which several requests are taken at once.

export interface WindowLimit {
  readonly requests: number;
  readonly windowSeconds: number;
}

/** The count of a window after something was taken out of it. */
export interface WindowCount {
  /** Taken by all fronts together; more than the limit where they asked for more. */
  readonly consumed: number;
  /** Until the end of that window, at the moment it was counted; rounded up. */
  readonly leftMs: number;
}

/** The counts that fronts share. */
export interface SharedCounts {
  /** Whether asking is worth the wait. */
  readonly reachable: boolean;
  /** Fronts that share the counts, 1 and up: the last number known. */
  readonly fronts: number;
  /** Counts `points` into the running window of `key` or the one after it. Rejects within a bound where it cannot. */
  take(key: string, limit: WindowLimit, points: number, which: 'running' | 'next'): Promise<WindowCount>;
}
