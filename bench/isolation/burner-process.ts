// Burns processor time after the example of another process, and does nothing else: the load of a control.

import { setTimeout as delay } from 'node:timers/promises';
import type { BurnJob } from './control.ts';

const REST_MS = 1;

/** User and system time of this process. */
function usedSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

async function burn({ stepMs, cpuSeconds }: BurnJob): Promise<void> {
  const startMs = performance.now();
  const startSeconds = usedSeconds();
  for (;;) {
    const due = cpuSeconds[Math.floor((performance.now() - startMs) / stepMs)];
    if (due === undefined) return;
    // As the other process did, without a pause while there is work.
    if (usedSeconds() - startSeconds >= due) await delay(REST_MS);
  }
}

process.once('message', (job: BurnJob) => {
  void burn(job).then(() => process.exit());
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
