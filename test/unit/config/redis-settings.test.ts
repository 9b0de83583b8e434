// The address of Redis: its forms, what is refused, and that no password is shown.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { describeConfig, type Environment, readConfig } from '../../../src/config/read-config.ts';
import { parseRedisUrl } from '../../../src/config/redis-url.ts';
import { WrongSetting } from '../../../src/config/setting.ts';
import { problemsOf } from './problems.ts';

const CERTIFICATE = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----';

describe('the address of Redis', () => {
  it('is that of one server', () => {
    const plain = parseRedisUrl('redis://cache.example');
    assert.deepEqual(plain, {
      kind: 'server',
      addresses: [{ host: 'cache.example', port: 6379 }],
      tls: false,
      username: undefined,
      password: undefined,
      masterName: undefined,
      database: 0,
    });
    const full = parseRedisUrl('rediss://grantd:p%40ss%2Fword@[::1]:6380/2');
    assert.deepEqual(full.addresses, [{ host: '::1', port: 6380 }]);
    assert.deepEqual([full.tls, full.username, full.database], [true, 'grantd', 2]);
    assert.equal(full.password?.reveal(), 'p@ss/word');
    assert.equal(parseRedisUrl('redis://:secret@cache/').password?.reveal(), 'secret');
  });

  it('is that of sentinels, with the name of the master', () => {
    const { kind, addresses, masterName, database } = parseRedisUrl('redis+sentinel://a,b:26380/main/3');
    assert.deepEqual([kind, masterName, database], ['sentinel', 'main', 3]);
    assert.deepEqual(addresses, [
      { host: 'a', port: 26_379 },
      { host: 'b', port: 26_380 },
    ]);
  });

  it('is that of some nodes of a cluster', () => {
    const { kind, addresses, tls } = parseRedisUrl('rediss+cluster://10.0.0.1,10.0.0.2:7000');
    assert.deepEqual([kind, tls], ['cluster', true]);
    assert.deepEqual(addresses, [
      { host: '10.0.0.1', port: 6379 },
      { host: '10.0.0.2', port: 7000 },
    ]);
  });

  for (const text of [
    'cache:6379',
    'http://cache',
    'redis://',
    'redis://a,b',
    'redis://cache:0',
    'redis://cache:70000',
    'redis://cache/x',
    'redis://cache/1/2',
    'redis://cache?db=1',
    'redis+sentinel://a',
    'redis+sentinel://a/main/x',
    'redis+sentinel://a/main/1/2',
    'redis+cluster://a/1',
    'redis+other://a',
    'redis://user:very-secret@word@cache',
    'redis://user:very-secret/word@cache',
    'redis://user:very-secret%zz@cache',
  ]) {
    it(`is refused: ${text}`, () => {
      assert.throws(
        () => parseRedisUrl(text),
        (error) => error instanceof WrongSetting && !error.message.includes('very-secret'),
      );
    });
  }

  it('goes with a password of its own setting, or holds one', () => {
    const url = 'redis://cache';
    const withPassword = { GRANTD_REDIS_URL: 'redis://:very-secret@cache' };
    assert.deepEqual(problemsOf({ GRANTD_REDIS_URL: url, GRANTD_REDIS_PASSWORD: 'x' }), []);
    for (const [environment, problem] of [
      [{ GRANTD_REDIS_PASSWORD: 'x' }, /^GRANTD_REDIS_PASSWORD needs GRANTD_REDIS_URL$/],
      [{ ...withPassword, GRANTD_REDIS_PASSWORD: 'x' }, /^GRANTD_REDIS_PASSWORD is set, .* remove one of them$/],
      [
        { GRANTD_REDIS_URL: url, GRANTD_REDIS_SENTINEL_PASSWORD: 'x' },
        /^GRANTD_REDIS_SENTINEL_PASSWORD needs .*sentinel/,
      ],
      [{ GRANTD_REDIS_URL: url, GRANTD_REDIS_TLS_CA: CERTIFICATE }, /^GRANTD_REDIS_TLS_CA needs .* TLS/],
    ] satisfies [Environment, RegExp][]) {
      const problems = problemsOf(environment);
      assert.equal(problems.length, 1);
      assert.match(problems[0] ?? '', problem);
    }
    const config = readConfig('dev', withPassword);
    for (const text of [
      JSON.stringify(config),
      inspect(config, { depth: 9 }),
      JSON.stringify(describeConfig(config)),
    ]) {
      assert.ok(!text.includes('very-secret'), text);
    }
  });
});
