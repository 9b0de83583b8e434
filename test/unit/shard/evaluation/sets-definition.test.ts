// A few of the cases of `sets-cases.ts`; `test/property/slow` runs all of them.

import { testSets } from './sets-cases.ts';

const SHARE = 0.05;

testSets(SHARE, 'union');
testSets(SHARE, 'conditions');
testSets(SHARE, 'whole');
