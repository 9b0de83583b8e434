// Joins of the sets that a shard answers against the definition of what rules mean, in every state of its memory.

import { testSets } from '../../unit/shard/evaluation/sets-cases.ts';

testSets(1, 'union');
testSets(1, 'conditions');
testSets(1, 'whole');
