// Memory of this process that is in use: after a full garbage collection, with typed arrays, which lie outside of the
// heap.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export function liveBytes(): number {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
