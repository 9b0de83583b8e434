// Loaded into a measured process (`--import`): at SIGUSR2 it writes down the longest delay of the event loop since the
// last one, in milliseconds.

import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const RESOLUTION_MS = 1;
const NS_PER_MS = 1e6;
const file = process.env.BENCH_STEPS_FILE;

if (isMainThread && file !== undefined) {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  process.on('SIGUSR2', () => {
    // The time between two looks, of which the first millisecond is the look itself.
    const longestMs = delays.count === 0 ? 0 : delays.max / NS_PER_MS - RESOLUTION_MS;
    delays.reset();
    writeFileSync(file, String(Math.max(0, longestMs)));
  });
}
