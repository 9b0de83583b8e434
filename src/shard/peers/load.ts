// The recent load from one front, which the front reports every two seconds. Invariant: only the last reports count,
// and the numbers of a broken front stay within bounds.

import { LATENCY_BUCKETS, latencyQuantileMs } from '../../core/structures/latency-histogram.ts';
import type { FrontReport, Load } from '../shard.ts';

/** Ten seconds, at one report every two seconds. */
const REPORTS_MAX = 5;
/** A front without a report for this long sends no requests, or has stopped. */
const SILENCE_MS_MAX = 15_000;
/** Maximum of one report: many times what a shard can answer in its period. */
const COUNT_MAX = 100_000_000;
const ELAPSED_MS_MIN = 500;
const ELAPSED_MS_MAX = 60_000;

type LoadReport = NonNullable<FrontReport['load']>;

interface TimedReport extends LoadReport {
  readonly atMs: number;
}

const within = (value: number, min: number, max: number): number =>
  Number.isFinite(value) ? Math.min(Math.max(value, min), max) : min;

export class LoadWindow {
  #reports: readonly TimedReport[] = [];

  /** `atMs`: on the monotonic clock, as in `reports`. */
  add(report: LoadReport, atMs: number): void {
    const kept: TimedReport = {
      atMs,
      elapsedMs: within(report.elapsedMs, ELAPSED_MS_MIN, ELAPSED_MS_MAX),
      checks: within(report.checks, 0, COUNT_MAX),
      failures: within(report.failures, 0, COUNT_MAX),
      latencies: report.latencies.slice(0, LATENCY_BUCKETS).map((count) => within(count, 0, COUNT_MAX)),
    };
    this.#reports = [...this.#reports.slice(1 - REPORTS_MAX), kept];
  }

  /** The reports that count now. */
  reports(atMs: number): readonly LoadReport[] {
    return this.#reports.filter((report) => atMs - report.atMs <= SILENCE_MS_MAX);
  }
}

/** The load of all fronts together. Each has its own rate, since they report at different times. */
export function mergeLoads(windows: Iterable<LoadWindow>, atMs: number): Load {
  const latencies = new Float64Array(LATENCY_BUCKETS);
  let checksPerSecond = 0;
  let failuresPerSecond = 0;
  for (const window of windows) {
    let seconds = 0;
    let checks = 0;
    let failures = 0;
    for (const report of window.reports(atMs)) {
      seconds += report.elapsedMs / 1000;
      checks += report.checks;
      failures += report.failures;
      for (const [bucket, count] of report.latencies.entries()) latencies[bucket] = (latencies[bucket] ?? 0) + count;
    }
    if (seconds === 0) continue;
    checksPerSecond += checks / seconds;
    failuresPerSecond += failures / seconds;
  }
  return { checksPerSecond, failuresPerSecond, p99Ms: latencyQuantileMs(latencies, 0.99) };
}
