// A cluster of real processes under load survives what happens to its shards, to Cassandra, to its network and to its
// clocks, without a wrong answer; and asks no more of Cassandra than it has to.

import { OTHER_FAULTS } from '../support/trials/other-faults.ts';
import { describeTrials } from '../support/trials/run-trials.ts';
import { SHARD_FAULTS } from '../support/trials/shard-faults.ts';
import { SPEED } from '../support/trials/speed.ts';

await describeTrials('a cluster under load', [...SPEED, ...SHARD_FAULTS, ...OTHER_FAULTS]);
