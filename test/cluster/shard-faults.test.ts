// A cluster of real processes under load survives what happens to its shards, without a wrong answer.

import { describeTrials } from '../support/cluster/trials/run-trials.ts';
import { SHARD_FAULTS } from '../support/cluster/trials/shard-faults.ts';

await describeTrials('a cluster under load, and its shards', SHARD_FAULTS);
