// Faults of a cluster that take longer than a run of all tests can spare: `npm run test:slow`.

import { SLOW_OTHER_FAULTS } from '../support/cluster/trials/other-faults.ts';
import { overlappingFaults } from '../support/cluster/trials/overlapping-faults.ts';
import { describeTrials } from '../support/cluster/trials/run-trials.ts';
import { SLOW_SHARD_FAULTS } from '../support/cluster/trials/shard-faults.ts';

await describeTrials('a cluster under load, at length', [
  overlappingFaults,
  ...SLOW_SHARD_FAULTS,
  ...SLOW_OTHER_FAULTS,
]);
