// A few of the cases of `meaning-cases.ts`; `test/property/slow` runs many.

import { testMeaning } from './meaning-cases.ts';

const CASES = 30;

testMeaning(CASES);
