// An attack of one tenant on another of each kind, in its shortest form. `cluster/slow` has all attacks, longer, and
// with uncached subjects that do not fit the heap.

import { ATTACKS } from '../../../bench/isolation/attack-list.ts';
import { describeIsolation } from '../support/isolation.ts';

/** Memory, the store, and turns of the event loop: one attack on each, and one by what an administrator writes. */
const NAMES = [
  // Responses that are not read.
  'unread-listings',
  // Pages of the store.
  'cold-bulks',
  // Evaluation, and rules.
  'nested-gates',
  'dear-rules',
];

const attacks = NAMES.map((name) => {
  const attack = ATTACKS.find((each) => each.name === name);
  if (attack === undefined) throw new Error(`There is no attack ${name}.`);
  return attack;
});
const durations = { warmUpRequests: 200, idleMs: 100, attackMs: 1000, duringMs: 1000 };

describeIsolation('beside another tenant', durations, 8, attacks);
