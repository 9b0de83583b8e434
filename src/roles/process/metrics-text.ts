// Renders the text of all metrics for any number of scrapes. Invariant: one rendering at a time, started after the
// scrapes that wait for it, which all share it. Renderings take at most a tenth of the time, however frequent the
// scrapes.

import type { Clock } from '../../core/async/clock.ts';
import { delay } from '../../core/async/clock.ts';
import type { Metrics } from '../../telemetry/metrics.ts';

/** The pause after a rendering, as a multiple of its duration. */
const PAUSE_RATIO = 9;
/** The longest pause, however long a rendering took on a busy machine. */
const PAUSE_MS_MAX = 1000;

export function createMetricsText(dependencies: {
  readonly metrics: Metrics;
  readonly clock: Clock;
}): () => Promise<Buffer> {
  const { metrics, clock } = dependencies;
  /** Resolves when the next rendering may begin. */
  let free: Promise<void> = Promise.resolve();
  let next: Promise<Buffer> | undefined;

  async function renderOnceFree(): Promise<Buffer> {
    await free;
    // Later scrapes wait for the next rendering.
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
