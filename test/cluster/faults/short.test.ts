// A cluster of real processes under load survives what happens to its shards, without a wrong answer and without a long
// pause; and asks no more of Cassandra than it has to.

import { describeTrials } from '../support/trials/run-trials.ts';
import { SHARD_FAULTS } from '../support/trials/shard-faults.ts';
import { SPEED } from '../support/trials/speed.ts';
import { LIGHT } from '../support/trials/trial-cluster.ts';

await describeTrials('a cluster under load', LIGHT, [...SPEED, ...SHARD_FAULTS]);
