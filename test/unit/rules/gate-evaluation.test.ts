// A few of the cases of `gate-evaluation-cases.ts`; `test/property/slow` runs many.

import { testGateEvaluation } from './gate-evaluation-cases.ts';

const CASES = 16;

testGateEvaluation(CASES);
