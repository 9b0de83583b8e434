// Loaded into a measured process (`--import`): at SIGUSR2 it writes down the longest iteration of the event loop since
// the last one, in milliseconds of processor time, which other programs of the machine do not lengthen. The loop does
// not rest meanwhile.

import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const US_PER_MS = 1000;
const file = process.env.BENCH_STEPS_FILE;

if (isMainThread && file !== undefined) {
  const usedMs = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / US_PER_MS;
  };
  let longestMs = 0;
  let beganMs = usedMs();
  const look = (): void => {
    const nowMs = usedMs();
    longestMs = Math.max(longestMs, nowMs - beganMs);
    beganMs = nowMs;
    setImmediate(look).unref();
  };
  look();
  process.on('SIGUSR2', () => {
    writeFileSync(file, String(longestMs));
    longestMs = 0;
  });
}
