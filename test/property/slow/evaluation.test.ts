// The evaluation of rules against their definition, on many random rules and grants.

import { testEvaluation } from '../../unit/rules/evaluation-cases.ts';

const CASES = 60;

testEvaluation(CASES);
