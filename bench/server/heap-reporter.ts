// Loaded into a measured process (`--import`): at SIGUSR2 it collects all garbage and writes down the live bytes.

import { writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

const file = process.env.BENCH_HEAP_FILE;

if (isMainThread && file !== undefined) {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  process.on('SIGUSR2', () => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    // Typed arrays are outside the heap, but are memory too.
    writeFileSync(file, String(heapUsed + external));
  });
}
