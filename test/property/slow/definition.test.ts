// A shard against the definition of what rules mean, in every state of its memory.

import { testDefinition } from '../../unit/shard/evaluation/definition-cases.ts';

testDefinition(1);
testDefinition(1, 'conditions');
testDefinition(1, 'whole');
