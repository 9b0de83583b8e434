// Loaded into a service before its own code (`--import`, with `--expose-gc`): at SIGUSR2 it collects all garbage and
// writes what is live to standard error, as `live <bytes>`. PROBE_LEAK_BYTES makes the service keep so much of every
// request, to show that a leak is found.

import { Socket } from 'node:net';

const wordsKept = Number(process.env.PROBE_LEAK_BYTES ?? 0) / Float64Array.BYTES_PER_ELEMENT;
if (wordsKept > 0) {
  const kept: number[][] = [];
  const { emit } = Socket.prototype;
  Socket.prototype.emit = function (this: Socket, name: string, ...rest: unknown[]): boolean {
    if (name === 'data') kept.push(Array.from({ length: wordsKept }, () => 0.5));
    return emit.call(this, name, ...rest);
  };
}

process.on('SIGUSR2', () => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  process.stderr.write(`live ${heapUsed + external}\n`);
});
