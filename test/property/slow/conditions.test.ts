// Many cases of `random-conditions-cases.ts`.

import { testConditions } from '../../unit/rules/conditions/random-conditions-cases.ts';

const RUNS = 5000;

testConditions(RUNS);
