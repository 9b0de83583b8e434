// The memory that a page cache needs: the one rule for the program, the chart (templates/_memory.tpl) and the guides.
// Computes from GRANTD_PAGE_CACHE_BYTES the memory of the process and the size of Node's heap. Threads of one process
// share the cache in equal parts, and each has a heap of its own.

export const MEBIBYTE = 1024 ** 2;
/**
 * The cache counts its own bytes. Together with garbage that V8 has not collected, a further cached grant was measured
 * at 1.4 to 1.6 times the counted bytes (103 to 114 bytes of 71, `npm run bench -- memory`); rounded up.
 */
const CACHE_SHARE = 2;
/** Code, buffers and stacks outside the heap. */
const OUTSIDE_HEAP_BYTES = 128 * MEBIBYTE;
/** The rest of the heap: the program itself, connections, requests and writes in flight. */
const HEAP_BESIDE_CACHE_BYTES = 128 * MEBIBYTE;
/**
 * A shard that has just started may hold this much in addition to a full cache. With a smaller heap it cannot serve at
 * all.
 */
const HEAP_AFTER_START_BYTES = 150 * MEBIBYTE;

/** The memory of the whole process. */
export const memoryFor = (pageCacheBytes: number, threads = 1): number =>
  CACHE_SHARE * pageCacheBytes + threads * HEAP_BESIDE_CACHE_BYTES + OUTSIDE_HEAP_BYTES;

const heapFor = (pageCacheBytes: number): number => memoryFor(pageCacheBytes) - OUTSIDE_HEAP_BYTES;

/** The share of one thread in the bound for all of them. */
export const cacheOfThread = (pageCacheBytes: number, threads: number): number => Math.floor(pageCacheBytes / threads);

/** The heap of a thread with this part of the cache. */
export const heapMebibytesFor = (pageCacheBytes: number): number => Math.ceil(heapFor(pageCacheBytes) / MEBIBYTE);

const largestCacheIn = (memoryBytes: number, threads: number): number =>
  (memoryBytes - memoryFor(0, threads)) / CACHE_SHARE;

const toMebibytes = (bytes: number): string => `${Math.ceil(bytes / MEBIBYTE)} MiB`;

export interface ProcessMemory {
  /** The memory of the container, or of the machine if nothing limits the process. */
  readonly memoryBytes: number;
  /** The current bound of V8's heap. */
  readonly heapBytes: number;
  /** Whether that bound was configured; otherwise Node derived it from the memory. */
  readonly heapGiven: boolean;
}

export type HeapPlan =
  | { readonly kind: 'fits' }
  /** The heap must have this size, and the memory is large enough for it. */
  | { readonly kind: 'too-small'; readonly heapMebibytes: number }
  /** One or two sentences: the numbers, and what to do. */
  | { readonly kind: 'refused'; readonly problem: string };

/** `threads`: that share the cache. The heap is that of the main one. */
export function planHeap(
  pageCacheBytes: number,
  { memoryBytes, heapBytes, heapGiven }: ProcessMemory,
  threads = 1,
): HeapPlan {
  const cache = toMebibytes(pageCacheBytes);
  const needed = memoryFor(pageCacheBytes, threads);
  if (memoryBytes < needed) {
    const largest = Math.floor(largestCacheIn(memoryBytes, threads) / MEBIBYTE);
    const smaller = largest < 1 ? '' : ` Or set GRANTD_PAGE_CACHE_BYTES to ${largest}MiB or less.`;
    return {
      kind: 'refused',
      problem: `GRANTD_PAGE_CACHE_BYTES is ${cache}, which needs ${toMebibytes(needed)} of memory: twice the cache plus ${toMebibytes(memoryFor(0, threads))}. This process may use only ${Math.floor(memoryBytes / MEBIBYTE)} MiB. Give it ${toMebibytes(needed)} (in Kubernetes: resources.limits.memory).${smaller}`,
    };
  }
  const share = cacheOfThread(pageCacheBytes, threads);
  if (heapGiven) {
    const least = share + HEAP_AFTER_START_BYTES;
    if (heapBytes >= least) return { kind: 'fits' };
    return {
      kind: 'refused',
      problem: `Node was given a heap of ${Math.floor(heapBytes / MEBIBYTE)} MiB (--max-old-space-size or --max-heap-size, perhaps in NODE_OPTIONS), but GRANTD_PAGE_CACHE_BYTES is ${cache}, which needs a heap of at least ${toMebibytes(least)}. Remove the option: grantd then sizes the heap from the cache.`,
    };
  }
  if (heapBytes >= heapFor(share)) return { kind: 'fits' };
  return { kind: 'too-small', heapMebibytes: heapMebibytesFor(share) };
}
