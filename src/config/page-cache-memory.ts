// What memory a page cache needs: the one rule of the program, the chart (templates/_memory.tpl) and the guides.
// Everything that follows from GRANTD_PAGE_CACHE_BYTES is computed here: the memory of the process, and how large
// Node's heap has to be.

export const MEBIBYTE = 1024 ** 2;
/**
 * The cache counts what it holds. With what V8 takes beside that, and garbage that it has not collected yet, a cached
 * grant was measured at 1.8 times what is counted (355 bytes of 197, docs/operating/capacity.md); rounded up.
 */
const CACHE_SHARE = 2;
/** Code, buffers and stacks beside the heap. */
const OUTSIDE_HEAP_BYTES = 128 * MEBIBYTE;
/** What the heap holds beside the cache: the program itself, connections, requests and writes in flight. */
const HEAP_BESIDE_CACHE_BYTES = 128 * MEBIBYTE;
/** A shard that has just started may hold so much beside a full cache. A smaller heap cannot serve at all. */
const HEAP_AFTER_START_BYTES = 150 * MEBIBYTE;

/** Of the whole process. */
export const memoryFor = (pageCacheBytes: number): number =>
  CACHE_SHARE * pageCacheBytes + HEAP_BESIDE_CACHE_BYTES + OUTSIDE_HEAP_BYTES;

const heapFor = (pageCacheBytes: number): number => memoryFor(pageCacheBytes) - OUTSIDE_HEAP_BYTES;

const largestCacheIn = (memoryBytes: number): number =>
  (memoryBytes - HEAP_BESIDE_CACHE_BYTES - OUTSIDE_HEAP_BYTES) / CACHE_SHARE;

const toMebibytes = (bytes: number): string => `${Math.ceil(bytes / MEBIBYTE)} MiB`;

export interface ProcessMemory {
  /** Of the container, or of the machine where nothing bounds the process. */
  readonly memoryBytes: number;
  /** The bound of the heap, as V8 has it now. */
  readonly heapBytes: number;
  /** Whether somebody gave that bound; else Node took it from the memory. */
  readonly heapGiven: boolean;
}

export type HeapPlan =
  | { readonly kind: 'fits' }
  /** The heap has to be so large, and the memory suffices for it. */
  | { readonly kind: 'too-small'; readonly heapMebibytes: number }
  /** A whole sentence or two: the numbers, and what to do. */
  | { readonly kind: 'refused'; readonly problem: string };

export function planHeap(pageCacheBytes: number, { memoryBytes, heapBytes, heapGiven }: ProcessMemory): HeapPlan {
  const cache = toMebibytes(pageCacheBytes);
  const needed = memoryFor(pageCacheBytes);
  if (memoryBytes < needed) {
    const largest = Math.floor(largestCacheIn(memoryBytes) / MEBIBYTE);
    const smaller = largest < 1 ? '' : ` Or set GRANTD_PAGE_CACHE_BYTES to ${largest}MiB or less.`;
    return {
      kind: 'refused',
      problem: `GRANTD_PAGE_CACHE_BYTES is ${cache}, which needs ${toMebibytes(needed)} of memory: twice the cache plus 256 MiB. This process may use only ${Math.floor(memoryBytes / MEBIBYTE)} MiB. Give it ${toMebibytes(needed)} (in Kubernetes: resources.limits.memory).${smaller}`,
    };
  }
  if (heapGiven) {
    const least = pageCacheBytes + HEAP_AFTER_START_BYTES;
    if (heapBytes >= least) return { kind: 'fits' };
    return {
      kind: 'refused',
      problem: `Node was given a heap of ${Math.floor(heapBytes / MEBIBYTE)} MiB (--max-old-space-size or --max-heap-size, perhaps in NODE_OPTIONS), but GRANTD_PAGE_CACHE_BYTES is ${cache}, which needs a heap of at least ${toMebibytes(least)}. Remove the option: grantd then sizes the heap from the cache.`,
    };
  }
  const heap = heapFor(pageCacheBytes);
  return heapBytes >= heap ? { kind: 'fits' } : { kind: 'too-small', heapMebibytes: Math.ceil(heap / MEBIBYTE) };
}
