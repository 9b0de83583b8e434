// Name and address of a shard.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import {
  loopBackAddress,
  readPlace,
  resolveAdvertised,
  resolveShardName,
} from '../../../../src/roles/process/shard-identity.ts';
import { StartError } from '../../../../src/roles/process/start-error.ts';

describe('the name of a shard', () => {
  it('is the configured one, otherwise the host name in lower case', () => {
    assert.equal(resolveShardName({ shardName: 'shard-1' }, 'host'), 'shard-1');
    assert.equal(resolveShardName({ shardName: undefined }, 'Grantd-Shard-0'), 'grantd-shard-0');
  });

  it('must be set if the host name is not a valid one', () => {
    assert.throws(
      () => resolveShardName({ shardName: undefined }, 'a_b'),
      (error) => error instanceof StartError && /"a_b"\. Set GRANTD_SHARD_NAME\.$/.test(error.message),
    );
  });
});

describe('the advertised address of a shard', () => {
  it('is the configured one, otherwise the bound host or the host name, with the bound port', () => {
    const unset = { rpcAdvertise: undefined };
    assert.equal(resolveAdvertised({ rpcAdvertise: 'a:1' }, '0.0.0.0:8082', 'host'), 'a:1');
    assert.equal(resolveAdvertised(unset, '10.0.0.1:40123', 'host'), '10.0.0.1:40123');
    assert.equal(resolveAdvertised(unset, '[fd00::1]:8082', 'host'), '[fd00::1]:8082');
    assert.equal(resolveAdvertised(unset, '0.0.0.0:8082', 'host'), 'host:8082');
    assert.equal(resolveAdvertised(unset, '[::]:8082', 'host'), 'host:8082');
  });

  it('is not what the shard dials itself: that is loop-back, or the one address it listens on', () => {
    assert.equal(loopBackAddress('0.0.0.0:8082'), '127.0.0.1:8082');
    assert.equal(loopBackAddress('[::]:8082'), '[::1]:8082');
    assert.equal(loopBackAddress('10.0.0.1:8082'), '10.0.0.1:8082');
    assert.equal(loopBackAddress('[fd00::1]:8082'), '[fd00::1]:8082');
  });
});

const isLinux = existsSync('/proc/sys/kernel/random/boot_id');

it('is the boot, the network namespace and the address', { skip: !isLinux && 'no /proc' }, () => {
  assert.match(readPlace('10.0.0.1:8082') ?? '', /^[0-9a-f-]{36} net:\[\d+\] 10\.0\.0\.1:8082$/);
  assert.equal(readPlace('0.0.0.0:8082'), readPlace('0.0.0.0:8082'));
  assert.notEqual(readPlace('0.0.0.0:8082'), readPlace('0.0.0.0:8083'));
  assert.ok(readPlace('[::]:8082')?.endsWith(' [::]:8082'));
});

it('is unknown for a name, which may have resolved to another address before', () => {
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
