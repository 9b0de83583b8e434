// A histogram of latencies with fixed buckets, so that those of many fronts are merged by adding them up. Buckets are
// an eighth of a power of two wide: a quantile read from them is too high by 12.5 % at most. Fronts send the counts by
// bucket, so the buckets never change.

/** Up to some 40 s; what is longer counts in the last. */
export const LATENCY_BUCKETS = 160;

/** Buckets are counted in this unit: one is 10 µs. */
const UNITS_PER_MS = 100;
/** Of a power of two; below it each unit has a bucket of its own. */
const STEPS = 8;
const STEP_BITS = 3;
const LAST_UNIT = 2 ** 22 - 1;

/** The bucket of a latency. Without a float logarithm or an allocation: it is asked for every check. */
export function latencyBucket(ms: number): number {
  // What a clock or a caller may have made of it: negative, or not a number.
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

/** What `quantile` (0 to 1) of the latencies are below, in milliseconds. Undefined where there are none. */
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
