// The trials of every run, on three nodes of Cassandra and with many requests in flight at any moment.

import { describeTrials } from '../support/trials/run-trials.ts';
import { SHARD_FAULTS } from '../support/trials/shard-faults.ts';
import { SLOW_SPEED, SPEED } from '../support/trials/speed.ts';
import { FULL } from '../support/trials/trial-cluster.ts';

await describeTrials('a cluster under a full load', FULL, [...SPEED, ...SLOW_SPEED, ...SHARD_FAULTS]);
