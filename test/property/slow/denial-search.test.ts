// Many cases of `denial-cases.ts`.

import { testDenials } from '../../unit/rules/denial-cases.ts';

const CASES = 150;

testDenials(CASES);
