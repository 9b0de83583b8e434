// The text of all metrics, for as many scrapes as come. It keeps: one rendering at a time, begun after the scrape that
// waits for it; all who wait share one; and renderings take a tenth of the time at most, however often somebody asks.

import type { Clock } from '../../core/async/clock.ts';
import { delay } from '../../core/async/clock.ts';
import type { Metrics } from '../../telemetry/metrics.ts';

/** The pause after a rendering, in lengths of it. */
const PAUSE_RATIO = 9;
/** However long one has taken on a busy machine. */
const PAUSE_MS_MAX = 1000;

export function createMetricsText(dependencies: {
  readonly metrics: Metrics;
  readonly clock: Clock;
}): () => Promise<Buffer> {
  const { metrics, clock } = dependencies;
  /** Ends when the next rendering may begin. */
  let free: Promise<void> = Promise.resolve();
  let next: Promise<Buffer> | undefined;

  async function renderOnceFree(): Promise<Buffer> {
    await free;
    // Whoever comes from now on waits for the one after this.
    next = undefined;
    const startedMs = clock.monotonicMs();
    const rendering = metrics.render();
    free = rendering
      .catch(() => {})
      .then(() => delay(clock, Math.min(PAUSE_MS_MAX, PAUSE_RATIO * (clock.monotonicMs() - startedMs))));
    return Buffer.from(await rendering);
  }

  return () => {
    next ??= renderOnceFree();
    return next;
  };
}
