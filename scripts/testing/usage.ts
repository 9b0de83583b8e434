// Processor time of the processes of a run. Loaded first in each process that runs tests: when that process ends, it
// records its processor time, including all processes that it started and waited for.

import { appendFileSync, readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/**
 * `<process of the runner>:<file>`; no setting of the program. Forked children inherit this import, but report to their
 * own parent.
 */
const { TEST_USAGE: wanted } = process.env;
const [runner, ...path] = wanted?.split(':') ?? [];
/** In /proc/self/stat, behind the name: times of this process in user and kernel mode, and of its ended children. */
const TIMES = [11, 15] as const;
const TICK_MS = 10;

/** Processor time of this process and of all those that it started and waited for. */
export function processorMs(): number {
  const [, stat = ''] = readFileSync('/proc/self/stat', 'utf8').split(/\) /);
  const ticks = stat.split(' ').slice(...TIMES);
  return TICK_MS * ticks.reduce((sum, each) => sum + Number(each), 0);
}

if (isMainThread && Number(runner) === process.ppid) {
  process.on('exit', () => {
    const line = { entry: process.argv[1], cpuMs: processorMs() };
    appendFileSync(path.join(':'), `${JSON.stringify(line)}\n`);
  });
}
