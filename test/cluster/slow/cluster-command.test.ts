// `npm run cluster` as a person uses it, twice on the same data.

import { describe, it } from 'node:test';
import { missingCassandra } from '../../../tools/engines/cassandra.ts';
import { useCluster } from '../support/cluster-command.ts';

const missing = await missingCassandra('the cluster on one machine, twice');

describe('npm run cluster', { skip: missing ?? false }, () => {
  it('loses no check with the shard in use, starts it again, leaves no process behind, and goes on with what it kept', () =>
    useCluster());
});
