// The long search by schemathesis. Another number in `--seed` looks elsewhere.

import { describeSearches } from '../support/schemathesis.ts';

const phases = 'examples,coverage,fuzzing';

await describeSearches([
  {
    what: 'checks, grants, objects and namespaces',
    examples: 100,
    phases,
    selection: ['--exclude-path-regex', '^/(?:v1/keys|access/)'],
  },
  { what: 'the AuthZEN interface', examples: 100, phases, selection: ['--include-path-regex', '^/access/'] },
  // Without the import: the tool cannot write lines of JSON.
  {
    what: 'the API of operators',
    examples: 10,
    phases,
    selection: ['--exclude-path-regex', '/import$'],
    operator: true,
  },
  ...['listKeys', 'createKey', 'revokeKey'].map((operation) => ({
    what: operation,
    examples: 30,
    phases,
    selection: ['--include-operation-id', operation],
  })),
]);
