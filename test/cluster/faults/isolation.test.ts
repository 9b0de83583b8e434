// An attack of one tenant on another of each kind, in its shortest form. `cluster/slow` has all attacks, longer, and
// with uncached subjects that do not fit the heap.

import { ATTACKS } from '../../../bench/isolation/attack-list.ts';
import { describeIsolation } from '../support/isolation.ts';

/** One for each thing that a client can make the service spend. */
const NAMES = [
  // Responses that are not read.
  'unread-listings',
  // Bodies. Those that never end miss their bound here in every second run: they are measured nightly, for longer.
  'dear-json',
  // Pages of the store.
  'cold-bulks',
  // Turns.
  'dear-requests',
  // Evaluation: groups, gates, conditions, patterns; and rules.
  'nested-gates',
  'dear-conditions',
  'backtracking',
  'dear-rules',
];

const attacks = NAMES.map((name) => {
  const attack = ATTACKS.find((each) => each.name === name);
  if (attack === undefined) throw new Error(`There is no attack ${name}.`);
  return attack;
});
const durations = { warmUpRequests: 200, idleMs: 100, attackMs: 1000, duringMs: 1000 };

describeIsolation('beside another tenant', durations, 8, attacks);
