// Many cases of `pattern-work-cases.ts`.

import { testPatternWork } from '../../unit/rules/conditions/pattern-work-cases.ts';

const RUNS = 20_000;

testPatternWork(RUNS);
