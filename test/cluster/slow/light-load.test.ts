// Faults with so few requests that the bounds of time can be judged on two processors.

import { NODE_FAULTS, OTHER_FAULTS } from '../support/trials/other-faults.ts';
import { describeTrials } from '../support/trials/run-trials.ts';
import { MANY_SLOTS_FAULTS, SLOW_SHARD_FAULTS } from '../support/trials/shard-faults.ts';
import { SLOW_SPEED } from '../support/trials/speed.ts';
import { stalls } from '../support/trials/stalls.ts';
import { LIGHT, LIGHT_ON_NODES } from '../support/trials/trial-cluster.ts';

await describeTrials('a cluster', LIGHT, [...SLOW_SPEED, ...SLOW_SHARD_FAULTS, ...MANY_SLOTS_FAULTS, ...OTHER_FAULTS]);
await describeTrials('a cluster on three nodes of Cassandra', LIGHT_ON_NODES, [stalls, ...NODE_FAULTS]);
