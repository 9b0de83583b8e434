// Many cases of `gate-evaluation-cases.ts`.

import { testGateEvaluation } from '../../unit/rules/gate-evaluation-cases.ts';

const CASES = 100;

testGateEvaluation(CASES);
