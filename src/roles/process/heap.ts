// The heap of a serving process: how large it may become, and how much garbage it may hold. Its size follows from the
// page cache, which is most of it, so that nobody has to set both: where Node, which goes by the memory alone, would
// give less, the process starts itself again with what the cache needs.

import { totalmem } from 'node:os';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { planHeap } from '../../config/page-cache-memory.ts';
import { StartError } from './start-error.ts';

/**
 * Growth over what was live after the last collection. V8 lets a heap of some hundred MiB grow by half and more before
 * it collects the old generation; operators plan memory by the bound of the page cache, so what lies beside it is kept
 * small. A collection marks beside the running program and costs it little.
 */
const GROWTH_PERCENT = 40;

/** To be called before the heap has grown. */
export function boundGarbage(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}

/** Options of Node that bound the heap, in every spelling V8 takes. */
const HEAP_OPTION = /--max[-_](old[-_]space|heap)[-_]size/;

/** How a process was started, as `node:process` has it; main.ts hands it over, with its arguments and environment. */
type ProcessStart = Pick<NodeJS.Process, 'argv' | 'argv0' | 'env' | 'execArgv' | 'execPath' | 'execve'> & {
  constrainedMemory(): number;
};

/**
 * Returns where the heap is large enough for the cache. Else the process becomes a new one, with the same id, arguments
 * and open standard streams; so this stands before anything is opened. Throws a StartError where the memory is too
 * small.
 */
export function fitHeap(started: ProcessStart, pageCacheBytes: number): void {
  const { argv, argv0, env, execArgv, execPath } = started;
  // 0 where it cannot be told; more than any machine has where nothing bounds it.
  const limit = started.constrainedMemory() || Number.POSITIVE_INFINITY;
  const plan = planHeap(pageCacheBytes, {
    memoryBytes: Math.min(limit, totalmem()),
    heapBytes: getHeapStatistics().heap_size_limit,
    heapGiven: HEAP_OPTION.test([...execArgv, env.NODE_OPTIONS ?? ''].join(' ')),
  });
  if (plan.kind === 'fits') return;
  if (plan.kind === 'refused') throw new StartError(plan.problem);
  const option = `--max-heap-size=${plan.heapMebibytes}`;
  if (started.execve === undefined) {
    throw new StartError(`The heap is too small for GRANTD_PAGE_CACHE_BYTES. Set NODE_OPTIONS=${option}.`);
  }
  started.execve(execPath, [argv0, ...execArgv, option, ...argv.slice(1)], env);
}
