// The turns of a process: one object for all work for tenants on its event loop, visible in its metrics.

import type { Clock } from '../../core/async/clock.ts';
import { FairTurns, type Turns } from '../../core/async/turns.ts';
import type { Metrics } from '../../telemetry/metrics.ts';

export function openTurns({ clock, metrics }: { readonly clock: Clock; readonly metrics: Metrics }): Turns {
  const turns = new FairTurns(clock);
  metrics.onRender(() => metrics.turnsWaiting.inc(turns.waiting));
  return turns;
}
