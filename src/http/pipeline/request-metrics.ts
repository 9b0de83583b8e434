// Counts requests and checks. Labels are bound once, so that the hot path allocates no label objects.

import type { Metrics } from '../../telemetry/metrics.ts';
import type { CheckOutcomes } from '../operations/operation.ts';
import type { StreamMeter } from '../streams/change-streams.ts';
import { FOLLOW_KINDS, type FollowKind } from '../streams/followers.ts';
import type { BudgetName } from '../wire/budgets.ts';
import type { ByteBudgetMeter } from '../wire/byte-budget.ts';
import type { DropReason } from '../wire/connections.ts';

export interface OperationMeter {
  readonly operation: string;
  observe(status: number, seconds: number): void;
}

export interface RequestMetrics {
  /** The operations are a fixed set, plus `other` for requests that match none. */
  meterOf(operation: string): OperationMeter;
  readonly outcomes: CheckOutcomes;
  rateLimited(bucket: 'plan' | 'revocation' | 'authentication'): void;
  authenticationFailed(): void;
  budgetMeterOf(budget: BudgetName): ByteBudgetMeter;
  readonly connectionDropped: (reason: DropReason) => void;
  readonly streams: StreamMeter;
  /** Exports what `read` returns until the returned function is called. */
  reportHeld(read: () => HeldByConnections): () => void;
}

/** Bytes received and waiting, of bodies, of responses, of streams. */
const HELD_BUDGETS = ['input', 'bodies', 'responses', 'streams'] as const;

export interface HeldByConnections extends Readonly<Record<(typeof HELD_BUDGETS)[number], number>> {
  readonly connections: number;
  readonly followers: Readonly<Record<FollowKind, number>>;
}

function createMeters(metrics: Metrics): (operation: string) => OperationMeter {
  const meters = new Map<string, OperationMeter>();
  const createMeter = (operation: string): OperationMeter => {
    const series = new Map<number, { observe(seconds: number): void }>();
    return {
      operation,
      observe(status, seconds) {
        let bound = series.get(status);
        if (bound === undefined) {
          bound = metrics.httpRequestSeconds.labels(operation, String(status));
          series.set(status, bound);
        }
        bound.observe(seconds);
      },
    };
  };
  return (operation) => {
    let meter = meters.get(operation);
    if (meter === undefined) {
      meter = createMeter(operation);
      meters.set(operation, meter);
    }
    return meter;
  };
}

export function createRequestMetrics(metrics: Metrics): RequestMetrics {
  /**
   * Added to the counter when it is rendered: the counter builds a key from the labels per call, too costly for a
   * check.
   */
  const checks = { authorized: 0, denied: 0, failed: 0 };
  let delivered = 0;
  metrics.onRender(() => {
    for (const outcome of ['authorized', 'denied', 'failed'] as const) {
      metrics.checks.inc({ outcome }, checks[outcome]);
      checks[outcome] = 0;
    }
    metrics.changesDelivered.inc(delivered);
    delivered = 0;
  });
  return {
    meterOf: createMeters(metrics),
    outcomes: {
      authorized(count) {
        checks.authorized += count;
      },
      denied(count) {
        checks.denied += count;
      },
      failed(count) {
        checks.failed += count;
      },
    },
    rateLimited: (bucket) => metrics.rateLimited.labels(bucket).inc(),
    authenticationFailed: () => metrics.authenticationFailures.inc(),
    budgetMeterOf: (budget) => ({
      waited: () => metrics.httpBudgetEvents.labels(budget, 'waited').inc(),
      refused: () => metrics.httpBudgetEvents.labels(budget, 'refused').inc(),
      dropped: () => metrics.httpBudgetEvents.labels(budget, 'dropped').inc(),
    }),
    connectionDropped: (reason) => metrics.connectionsDropped.inc({ server: 'public', reason }),
    streams: {
      delivered(changes) {
        delivered += changes;
      },
      stopped: (kind, reason) => metrics.changeStreamsClosed.inc({ kind, reason }),
    },
    reportHeld: (read) =>
      metrics.onRender(() => {
        const { connections, followers, ...bytes } = read();
        metrics.httpConnections.inc(connections);
        for (const budget of HELD_BUDGETS) metrics.httpHeldBytes.inc({ budget }, bytes[budget]);
        for (const kind of FOLLOW_KINDS) metrics.changeStreams.inc({ kind }, followers[kind]);
      }),
  };
}
