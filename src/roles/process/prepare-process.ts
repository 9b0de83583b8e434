// The setup that every serving process does first: its heap, the log of gRPC, its turns.

import { setLogger } from '@grpc/grpc-js';
import type { Clock } from '../../core/async/clock.ts';
import { FairTurns, type Turns } from '../../core/async/turns.ts';
import { busiestTenant } from '../../shard/observers.ts';
import { droppedLines, type Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { boundGarbage } from './heap.ts';

export function prepareProcess(log: Log): void {
  boundGarbage();
  routeGrpcLog(log);
}

/**
 * Routes the lines that the gRPC library would write to standard error into the log, at debug level: callers get the
 * errors among them and log those. Affects the whole process.
 */
function routeGrpcLog(log: Log): void {
  const write = (...parts: unknown[]): void => log.debug({ grpc: parts.map(String).join(' ') }, 'gRPC');
  setLogger({ error: write, info: write, debug: write });
}

/** Counts what the log of this thread has dropped. */
export function countDroppedLines(metrics: Metrics): void {
  let counted = 0;
  metrics.onRender(() => {
    const { count } = droppedLines;
    metrics.logLinesDropped.inc(count - counted);
    counted = count;
  });
}

/** One object schedules all work for tenants on the event loop of the process. */
export function openTurns({ clock, metrics }: { readonly clock: Clock; readonly metrics: Metrics }): Turns {
  const turns = new FairTurns(clock);
  metrics.onRender(() => {
    metrics.turnsWaiting.inc(turns.waiting);
    metrics.busiestTenantRatio.inc(busiestTenant(turns, clock)?.share ?? 0);
  });
  return turns;
}
