// A histogram of latencies with fixed buckets, so that the histograms of many fronts are merged by addition. Each
// bucket is an eighth of a power of two wide, so a quantile is at most 12.5 % too high. Fronts send counts per bucket,
// so the buckets must never change.

/** Up to about 40 s; longer latencies count in the last bucket. */
export const LATENCY_BUCKETS = 160;

/** The unit of the buckets: 10 µs. */
const UNITS_PER_MS = 100;
/** Buckets per power of two; below this value each unit has its own bucket. */
const STEPS = 8;
const STEP_BITS = 3;
const LAST_UNIT = 2 ** 22 - 1;

/** The bucket of a latency. It runs for every check, so it uses no floating-point logarithm and allocates nothing. */
export function latencyBucket(ms: number): number {
  // A clock or caller may supply a negative value or NaN.
  const units = ms > 0 ? Math.min(ms * UNITS_PER_MS, LAST_UNIT) | 0 : 0;
  if (units < STEPS) return units;
  const exponent = 31 - Math.clz32(units);
  return (exponent - STEP_BITS + 1) * STEPS + ((units >>> (exponent - STEP_BITS)) & (STEPS - 1));
}

/** Every latency in the bucket is below this, in milliseconds. */
function upperBoundMs(bucket: number): number {
  if (bucket < STEPS) return (bucket + 1) / UNITS_PER_MS;
  const exponent = Math.floor(bucket / STEPS) + STEP_BITS - 1;
  return ((STEPS + (bucket % STEPS) + 1) * 2 ** (exponent - STEP_BITS)) / UNITS_PER_MS;
}

/** An upper bound of the `quantile` (0 to 1) of the latencies, in milliseconds. Undefined if there are none. */
export function latencyQuantileMs(counts: ArrayLike<number>, quantile: number): number | undefined {
  let total = 0;
  for (let bucket = 0; bucket < counts.length; bucket += 1) total += counts[bucket] ?? 0;
  if (total === 0) return undefined;
  let left = Math.ceil(total * quantile);
  for (let bucket = 0; bucket < counts.length; bucket += 1) {
    left -= counts[bucket] ?? 0;
    if (left <= 0) return upperBoundMs(bucket);
  }
  return upperBoundMs(counts.length - 1);
}
