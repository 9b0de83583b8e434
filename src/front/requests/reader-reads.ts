// Where a front has sent the reads of tenants with readers, counted for a metric.

/** A label of the metric of these reads. */
export type ReadResult =
  | 'reader'
  | 'beginning'
  | 'unreachable'
  | 'paused'
  | 'failed'
  | 'late'
  | 'missing'
  | 'unconfirmed';
/** Reads of tenants with readers, since the metrics were last read. */
export type ReadCounts = Record<ReadResult, number>;
export const noReads = (): ReadCounts => ({
  reader: 0,
  beginning: 0,
  unreachable: 0,
  paused: 0,
  failed: 0,
  late: 0,
  missing: 0,
  unconfirmed: 0,
});
