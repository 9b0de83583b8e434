// The forms of the settings that only a cluster has.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  isLoopback,
  isWildcard,
  parseContactPoints,
  parseDialAddress,
  parseDiscovery,
  parseKeyspace,
} from '../../../src/config/cluster-parsers.ts';
import { WrongSetting } from '../../../src/config/setting.ts';

function refuses(parse: (text: string) => unknown, texts: readonly string[], message: RegExp): void {
  for (const text of texts) {
    assert.throws(
      () => parse(text),
      (error) => error instanceof WrongSetting && message.test(error.message),
      text,
    );
  }
}

describe('parseDiscovery', () => {
  it('takes a list of addresses, each once', () => {
    assert.deepEqual(parseDiscovery('static:10.0.0.1:8082, shard-2:8082,[fd00::1]:8082,10.0.0.1:8082'), {
      kind: 'static',
      addresses: ['10.0.0.1:8082', 'shard-2:8082', '[fd00::1]:8082'],
    });
  });

  it('takes a name and a port', () => {
    assert.deepEqual(parseDiscovery('dns:grantd-shard.grantd.svc.cluster.local:8082'), {
      kind: 'dns',
      name: 'grantd-shard.grantd.svc.cluster.local',
      port: 8082,
    });
  });

  it('refuses what nobody could dial, and says what is right', () => {
    refuses(
      parseDiscovery,
      ['', 'shard-1:8082', 'file:x'],
      /must be static:host:port,…, dns:name:port or kubernetes:namespace\/service/,
    );
    refuses(parseDiscovery, ['static:', 'static:shard-1', 'static:a:1,', 'static:a:99999'], /must be host:port/);
    refuses(parseDiscovery, ['static:0.0.0.0:8082', 'static:a:0', 'static:[::]:1'], /that others can dial/);
    refuses(
      parseDiscovery,
      ['dns:', 'dns:shards', 'dns:shards:0', 'dns:shards:http', 'dns:a b:1'],
      /after dns:, like dns:/,
    );
    refuses(
      parseDiscovery,
      ['kubernetes:', 'kubernetes:shards', 'kubernetes:/shards', 'kubernetes:a/', 'kubernetes:a/B', 'kubernetes:a/b/c'],
      /after kubernetes:, like kubernetes:/,
    );
    refuses(parseDiscovery, ['kubernetes:a/b:', 'kubernetes:a/b:c:d', 'kubernetes:a/-b:1'], /optionally a port/);
  });

  it('takes a namespace and a Service, and the port of it that is not called rpc', () => {
    const expected = { kind: 'kubernetes', namespace: 'grantd', service: 'grantd-shards', port: 'rpc' };
    assert.deepEqual(parseDiscovery('kubernetes:grantd/grantd-shards'), expected);
    assert.deepEqual(parseDiscovery('kubernetes:grantd/grantd-shards:8082'), { ...expected, port: '8082' });
  });
});

describe('parseContactPoints', () => {
  it('takes hosts with a port or without', () => {
    assert.deepEqual(parseContactPoints('cassandra-1, 10.0.0.2:9043,fd00::1,[fd00::2]:9042,cassandra-1'), [
      'cassandra-1',
      '10.0.0.2:9043',
      'fd00::1',
      '[fd00::2]:9042',
    ]);
  });

  it('names the part that is none', () => {
    refuses(
      parseContactPoints,
      ['cassandra-1,,b', 'http://a', 'a:b', '0.0.0.0:9042'],
      /comma-separated hosts.* is not one$/,
    );
  });
});

describe('isLoopback', () => {
  it('holds for what is certain to be this machine alone', () => {
    for (const host of ['127.0.0.1', '127.255.0.9', 'localhost', '[::1]', '[0:0::1]', '[::ffff:127.0.0.1]']) {
      assert.ok(isLoopback(`${host}:1`), host);
    }
    for (const host of [
      '0.0.0.0',
      '0',
      '127',
      '128.0.0.1',
      '10.0.0.1',
      '[::]',
      '[::2]',
      'localhost.example',
      '127.example',
    ]) {
      assert.ok(!isLoopback(`${host}:1`), host);
    }
  });
});

describe('addresses that others dial', () => {
  it('are neither wildcards nor without a port', () => {
    assert.equal(parseDialAddress('shard-1.shards:8082'), 'shard-1.shards:8082');
    refuses(parseDialAddress, ['0.0.0.0:8082', '0:8082', '[::]:8082', 'shard-1:0'], /that others can dial/);
    for (const address of ['0.0.0.0:1', '[::]:1', '0:1']) assert.ok(isWildcard(address), address);
    for (const address of ['127.0.0.1:1', '[::1]:1', 'localhost:1']) assert.ok(!isWildcard(address), address);
  });
});

describe('parseKeyspace', () => {
  it('takes what needs no quotes', () => {
    assert.equal(parseKeyspace('grantd_2'), 'grantd_2');
    refuses(parseKeyspace, ['Grantd', '2grantd', 'grantd-2', 'a'.repeat(49), 'a"; DROP'], /1 to 48 lower-case letters/);
  });
});
