// Faults of a cluster that take longer than a run of all tests can spare, with many requests in flight.

import { NODE_FAULTS, OTHER_FAULTS } from '../support/trials/other-faults.ts';
import { overlappingFaults } from '../support/trials/overlapping-faults.ts';
import { describeTrials } from '../support/trials/run-trials.ts';
import { SLOW_SHARD_FAULTS } from '../support/trials/shard-faults.ts';
import { stalls } from '../support/trials/stalls.ts';
import { FULL } from '../support/trials/trial-cluster.ts';

await describeTrials('a cluster under a full load, at length', FULL, [
  overlappingFaults(),
  stalls,
  ...SLOW_SHARD_FAULTS,
  ...OTHER_FAULTS,
  ...NODE_FAULTS,
]);
