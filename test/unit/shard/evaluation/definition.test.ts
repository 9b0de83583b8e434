// A few of the cases of `definition-cases.ts`; `test/property/slow` runs all of them.

import { testDefinition } from './definition-cases.ts';

const SHARE = 0.05;

testDefinition(SHARE);
testDefinition(SHARE, 'conditions');
testDefinition(SHARE, 'whole');
