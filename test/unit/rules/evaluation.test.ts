// A few of the cases of `evaluation-cases.ts`; `test/property/slow` runs many.

import { testEvaluation } from './evaluation-cases.ts';

const CASES = 16;

testEvaluation(CASES);
