// Every attack of one tenant on another, for some seconds, and with more uncached subjects than fit the heap.

import { ATTACKS } from '../../../bench/isolation/attack-list.ts';
import { describeIsolation } from '../support/isolation.ts';

describeIsolation(
  'beside another tenant, at length',
  { warmUpRequests: 500, idleMs: 1500, attackMs: 6000, duringMs: 5000 },
  30,
  ATTACKS,
);
