// Some of the cases of `random-conditions-cases.ts`; `test/property/slow` runs many.

import { testConditions } from './random-conditions-cases.ts';

const RUNS = 400;

testConditions(RUNS);
