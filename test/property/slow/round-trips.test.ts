// Many cases of `round-trip-cases.ts`.

import { testRoundTrips } from '../../unit/rules/text/round-trip-cases.ts';

const RUNS = 100_000;

testRoundTrips(RUNS);
