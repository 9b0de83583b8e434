// How much garbage the heap of a serving process may hold. V8 lets a heap of some hundred MiB grow by half and more
// before it collects the old generation. Most of ours is the page cache, whose bound operators plan memory by, so what
// lies beside it is kept small: a collection marks beside the running program and costs it little.

import { setFlagsFromString } from 'node:v8';

/** Growth over what was live after the last collection. */
const GROWTH_PERCENT = 40;

/** To be called before the heap has grown. */
export function boundGarbage(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
