// A short search by schemathesis; conformance/slow has the long one.

import { describeSearches } from './support/schemathesis.ts';

await describeSearches([]);
