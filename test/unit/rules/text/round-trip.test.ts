// A few cases of `round-trip-cases.ts`; the slow suite of properties has many.

import { testRoundTrips } from './round-trip-cases.ts';

const RUNS = 300;

testRoundTrips(RUNS);
