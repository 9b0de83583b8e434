// Converted models against the models, on many random models and tuples.

import { testMeaning } from '../../unit/convert/meaning-cases.ts';

const CASES = 200;

testMeaning(CASES);
