// Faults of a cluster that take longer than a run of all tests can spare: `npm test -- slow`.

import { SLOW_OTHER_FAULTS } from '../support/trials/other-faults.ts';
import { overlappingFaults } from '../support/trials/overlapping-faults.ts';
import { describeTrials } from '../support/trials/run-trials.ts';
import { SLOW_SHARD_FAULTS } from '../support/trials/shard-faults.ts';
import { stalls } from '../support/trials/stalls.ts';

await describeTrials('a cluster under load, at length', [
  overlappingFaults,
  stalls,
  ...SLOW_SHARD_FAULTS,
  ...SLOW_OTHER_FAULTS,
]);
