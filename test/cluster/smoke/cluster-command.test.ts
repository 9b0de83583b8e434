// `npm run cluster` as a process on its ports: what it refuses. `cluster/slow` uses a cluster, twice.

import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import { readOptions } from '../../../scripts/cluster/options.ts';
import { portOf } from '../../../scripts/cluster/ports.ts';
import { missingCassandra } from '../../../tools/engines/cassandra.ts';
import { freeRange, startCommand } from '../support/cluster-command.ts';

const missing = await missingCassandra('the cluster on one machine');

describe('npm run cluster', { skip: missing ?? false }, () => {
  it('refuses ports that are taken and options that it does not know', async () => {
    const first = await freeRange();
    const other = createServer().listen(portOf(first, 'console'), '127.0.0.1');
    try {
      const refused = await startCommand(['--port', String(first)]).ended;
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, new RegExp(`^cluster: Port ${portOf(first, 'console')} is taken, .* --port `));
    } finally {
      other.close();
    }
    const { code, stderr } = await startCommand(['--shards', '0']).ended;
    assert.equal(code, 2, stderr);
    assert.match(stderr, /^cluster: --shards must be .*Usage: npm run cluster/s);
    for (const args of [['--fronts', 'x'], ['--nonsense'], ['--port', '80'], ['--keep', '']]) {
      assert.throws(() => readOptions(args), args.join(' '));
    }
  });
});
