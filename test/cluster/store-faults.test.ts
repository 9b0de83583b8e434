// A cluster of real processes under load survives what happens to Cassandra, to its network and to its clocks, without a
// wrong answer; and asks no more of Cassandra than it has to.

import { OTHER_FAULTS } from '../support/cluster/trials/other-faults.ts';
import { describeTrials } from '../support/cluster/trials/run-trials.ts';
import { SPEED } from '../support/cluster/trials/speed.ts';

await describeTrials('a cluster under load, and what it stands on', [...SPEED, ...OTHER_FAULTS]);
