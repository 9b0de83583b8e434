// The port of the counts that fronts share: fixed windows by key, from which a front takes several requests at once.

export interface WindowLimit {
  readonly requests: number;
  readonly windowSeconds: number;
}

/** The count of a window after something was taken from it. */
export interface WindowCount {
  /** Taken by all fronts together; above the limit if they requested more. */
  readonly consumed: number;
  /** Time until the end of that window, when it was counted; rounded up. */
  readonly leftMs: number;
}

export interface SharedCounts {
  /** Whether a call is worth the wait. */
  readonly reachable: boolean;
  /** Fronts that share the counts, at least 1: the last number known. */
  readonly fronts: number;
  /** Counts `points` in the running window of `key` or in the next one. If that fails, rejects within a bound. */
  take(key: string, limit: WindowLimit, points: number, which: 'running' | 'next'): Promise<WindowCount>;
}
