// The heap of a serving process: its maximum size, and how much garbage it may hold. The size follows from the page
// cache, which takes most of it, so that an operator sets only one of them. If Node, which considers only the machine's
// memory, would give too little, the process starts itself again with what the cache needs.

import { totalmem } from 'node:os';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { planHeap } from '../../config/page-cache-memory.ts';
import { StartError } from './start-error.ts';

/**
 * Growth beyond the live bytes of the last collection. V8 lets a heap of some hundred MiB grow by half and more before
 * it collects the old generation. Operators plan memory by the bound of the page cache, so the rest is kept small.
 * Marking runs concurrently with the program and costs it little.
 */
const GROWTH_PERCENT = 40;

/** Call this before the heap has grown. */
export function boundGarbage(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}

/**
 * Frees the garbage of the start: source texts, parsed modules, and a young generation that has grown for them. V8
 * would keep it for as long as the process is mostly idle. Stops the process for about a tenth of a second.
 */
export function collectStartGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: NodeJS.GCFunction = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/** Options of Node that bound the heap, in every spelling that V8 accepts. */
export const HEAP_OPTION = /--max[-_](old[-_]space|heap)[-_]size/;

/** How a process was started, as in `node:process`, with its arguments and environment. */
export type ProcessStart = Pick<NodeJS.Process, 'argv' | 'argv0' | 'env' | 'execArgv' | 'execPath' | 'execve'> & {
  constrainedMemory(): number;
};

/**
 * Returns if the heap is large enough for the cache. Otherwise the process replaces itself with a new one, with the
 * same id, arguments and standard streams; so call it before anything is opened. Throws a StartError if the memory is
 * too small.
 */
export function fitHeap(started: ProcessStart, pageCacheBytes: number, threads = 1): void {
  const { argv, argv0, env, execArgv, execPath } = started;
  // 0 if unknown; more than any machine has if unlimited.
  const limit = started.constrainedMemory() || Number.POSITIVE_INFINITY;
  const memory = {
    memoryBytes: Math.min(limit, totalmem()),
    heapBytes: getHeapStatistics().heap_size_limit,
    heapGiven: HEAP_OPTION.test([...execArgv, env.NODE_OPTIONS ?? ''].join(' ')),
  };
  const plan = planHeap(pageCacheBytes, memory, threads);
  if (plan.kind === 'fits') return;
  if (plan.kind === 'refused') throw new StartError(plan.problem);
  const option = `--max-heap-size=${plan.heapMebibytes}`;
  if (started.execve === undefined) {
    throw new StartError(`The heap is too small for GRANTD_PAGE_CACHE_BYTES. Set NODE_OPTIONS=${option}.`);
  }
  started.execve(execPath, [argv0, ...execArgv, option, ...argv.slice(1)], env);
}
