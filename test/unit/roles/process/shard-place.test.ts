// The place of a shard: the same for the next process at an address, another one elsewhere, none where nobody can tell.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { it } from 'node:test';
import { readPlace } from '../../../../src/roles/process/shard-identity.ts';

const isLinux = existsSync('/proc/sys/kernel/random/boot_id');

it('is the boot, the network namespace and the address', { skip: !isLinux && 'no /proc' }, () => {
  assert.match(readPlace('10.0.0.1:8082') ?? '', /^[0-9a-f-]{36} net:\[\d+\] 10\.0\.0\.1:8082$/);
  assert.equal(readPlace('0.0.0.0:8082'), readPlace('0.0.0.0:8082'));
  assert.notEqual(readPlace('0.0.0.0:8082'), readPlace('0.0.0.0:8083'));
  assert.ok(readPlace('[::]:8082')?.endsWith(' [::]:8082'));
});

it('is unknown for a name, which may have been another address before', () => {
  assert.equal(readPlace('localhost:8082'), undefined);
  assert.equal(readPlace('shard-0.grantd:8082'), undefined);
});

it('is taken by one listener at a time', async () => {
  await using first = createServer();
  await new Promise<void>((resolve) => first.listen(0, '127.0.0.1', resolve));
  const address = first.address();
  assert.ok(address !== null && typeof address === 'object');
  await using second = createServer();
  const code = await new Promise((resolve) => {
    second.once('error', (error: NodeJS.ErrnoException) => resolve(error.code));
    second.listen(address.port, '127.0.0.1', () => resolve(undefined));
  });
  assert.equal(code, 'EADDRINUSE');
});
