// A short search by schemathesis; the suite conformance/slow has a long one.

import { describeSearches } from './support/schemathesis.ts';

await describeSearches([
  { what: 'the public API', phases: 'examples,fuzzing', examples: 1, selection: [] },
  {
    what: 'each bound of checks and grants',
    phases: 'coverage',
    examples: 1,
    selection: ['--include-path-regex', '^/v1/(check|grants)$'],
  },
  // Without the import: the tool cannot write lines of JSON.
  {
    what: 'the API of operators',
    phases: 'examples,fuzzing',
    examples: 1,
    selection: ['--exclude-path-regex', '/import$'],
    operator: true,
  },
]);
