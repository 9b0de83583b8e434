// A few cases of `denial-cases.ts`; `test/property/slow` runs many.

import { testDenials } from './denial-cases.ts';

testDenials(15);
