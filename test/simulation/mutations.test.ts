// One protection for each focus is switched off and found out; slow/mutations.test.ts switches off each of them.

import { testMutations } from './mutation-cases.ts';
import { MUTATIONS } from './mutations.ts';

testMutations(MUTATIONS.filter((each) => MUTATIONS.find(({ caughtBy }) => caughtBy === each.caughtBy) === each));
