// Counts of requests and checks, with every label bound once, so that the hot path looks nothing up by text.

import type { Metrics } from '../telemetry/metrics.ts';

export interface OperationMeter {
  readonly operation: string;
  observe(status: number, seconds: number): void;
}

/** Each adds to the count of checks with that outcome. */
export interface CheckOutcomes {
  authorized(count: number): void;
  denied(count: number): void;
  failed(count: number): void;
}

export interface RequestMetrics {
  /** The operations are a fixed set, plus `other` for what is none. */
  meterOf(operation: string): OperationMeter;
  readonly outcomes: CheckOutcomes;
  rateLimited(bucket: 'plan' | 'keys' | 'authentication'): void;
  authenticationFailed(): void;
}

export function createRequestMetrics(metrics: Metrics): RequestMetrics {
  const meters = new Map<string, OperationMeter>();
  const createMeter = (operation: string): OperationMeter => {
    const observers = new Map<number, { observe(seconds: number): void }>();
    return {
      operation,
      observe(status, seconds) {
        let observer = observers.get(status);
        if (observer === undefined) {
          observer = metrics.httpRequestSeconds.labels(operation, String(status));
          observers.set(status, observer);
        }
        observer.observe(seconds);
      },
    };
  };
  const authorized = metrics.checks.labels('authorized');
  const denied = metrics.checks.labels('denied');
  const failed = metrics.checks.labels('failed');
  return {
    meterOf(operation) {
      let meter = meters.get(operation);
      if (meter === undefined) {
        meter = createMeter(operation);
        meters.set(operation, meter);
      }
      return meter;
    },
    outcomes: {
      authorized: (count) => authorized.inc(count),
      denied: (count) => denied.inc(count),
      failed: (count) => failed.inc(count),
    },
    rateLimited: (bucket) => metrics.rateLimited.labels(bucket).inc(),
    authenticationFailed: () => metrics.authenticationFailures.inc(),
  };
}
