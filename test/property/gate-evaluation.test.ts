// Many cases of `gate-evaluation-cases.ts`.

import { testGateEvaluation } from '../unit/rules/gate-evaluation-cases.ts';

const CASES = 500;

testGateEvaluation(CASES);
