// Every attack of one tenant on another in its shortest form. `cluster/slow` has a longer one, whose uncached subjects
// do not fit the heap.

import { describeIsolation } from '../support/isolation.ts';

describeIsolation('beside another tenant', { warmUpRequests: 200, idleMs: 100, attackMs: 1000, duringMs: 1000 }, 8);
