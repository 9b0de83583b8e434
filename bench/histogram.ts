// Measures the cost of one observation with the prebound histogram of src/telemetry, and with a bound child of
// prom-client's own: pairs of series in one process, compared by the processor time of this thread. docs/adr/0011
// relies on it. Run it alone with `node bench/histogram.ts`; it takes about ten seconds.

import { Histogram, Registry } from 'prom-client';
import { TalliedHistogram, type Tally } from '../src/telemetry/prebound-histogram.ts';

const PAIRS = 41;
const OBSERVATIONS = 400_000;
const VALUES = 1024;
/**
 * The time of a check when the histogram was introduced: if it gains less than 1 % of that, it is not worth its code.
 */
const CHECK_NS = 39_000;

const options = {
  name: 'grantd_http_request_seconds',
  help: 'Duration.',
  labelNames: ['operation', 'status'] as const,
  buckets: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
};
const prebound = new TalliedHistogram({ ...options, registers: [new Registry()] });
const library = new Histogram({ ...options, registers: [new Registry()] });
for (const operation of ['check', 'checkBulk', 'createGrant', 'listGrants']) {
  for (const status of ['200', '400', '404', '503']) {
    prebound.labels(operation, status).observe(1);
    library.labels(operation, status).observe(1);
  }
}
/** Mostly below a millisecond, as checks are. */
const values = Array.from({ length: VALUES }, () => 0.0001 + Math.random() ** 4 * 0.02);

/** Nanoseconds of processor time per observation. */
function measure(series: Tally): number {
  const before = process.threadCpuUsage();
  for (let index = 0; index < OBSERVATIONS; index += 1) series.observe(values[index % VALUES] ?? 0);
  const { user, system } = process.threadCpuUsage(before);
  return ((user + system) * 1000) / OBSERVATIONS;
}

const median = (list: readonly number[]): number => list.toSorted((a, b) => a - b)[list.length >> 1] ?? Number.NaN;

const own = prebound.labels('check', '200');
const other = library.labels('check', '200');
measure(own);
measure(other);
const pairs = Array.from({ length: PAIRS }, (_, index) => {
  // The order alternates from pair to pair.
  if (index % 2 === 0) return { own: measure(own), other: measure(other) };
  const first = measure(other);
  return { own: measure(own), other: first };
});
const gain = median(pairs.map((pair) => pair.other - pair.own));
process.stdout.write(
  `prebound ${median(pairs.map((pair) => pair.own)).toFixed(0)} ns, prom-client ${median(pairs.map((pair) => pair.other)).toFixed(0)} ns, ` +
    `gain ${gain.toFixed(0)} ns: ${((100 * gain) / CHECK_NS).toFixed(2)} % of a check of ${CHECK_NS / 1000} µs\n`,
);
