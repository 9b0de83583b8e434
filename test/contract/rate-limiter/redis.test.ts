// The limiter over a real Redis keeps the contract: one server, a cluster, and a master that sentinels name.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { freePort } from '../../../tools/engines/free-port.ts';
import { missingRedis, RedisServer, startRedisCluster, startRedisSentinel } from '../../../tools/engines/redis.ts';
import { createAuthority } from '../../kit/certificates.ts';
import { useDirectory } from '../../kit/directory.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { defineLimiterContract, newTenant, planOf } from './limiter-contract.ts';
import { type LimiterFront, openLimiterFront, openLimiterFronts, patientClock } from './redis-fronts.ts';

const missing = await missingRedis('the contract of the rate limiter on Redis');

const PASSWORD = 'a password: with/signs@in it';
/** The commands that the operating guide says a user of Redis needs. */
const RIGHTS = [
  ...['eval', 'evalsha', 'time', 'hmget', 'hset', 'pexpire', 'zadd', 'zremrangebyscore', 'zcard', 'zrem'],
  ...['hello', 'auth', 'select', 'client', 'info'],
];

const ENGINES: [string, () => Promise<{ readonly url: string; stop(): Promise<void> }>][] = [
  [
    'one Redis server',
    async () => {
      const server = await RedisServer.start();
      await server.command(
        'acl',
        'setuser',
        'grantd',
        'on',
        `>${PASSWORD}`,
        '~grantd:*',
        ...RIGHTS.map((name) => `+${name}`),
      );
      await server.command('acl', 'setuser', 'default', 'off');
      const url = `redis://grantd:${encodeURIComponent(PASSWORD)}@${server.address}/3`;
      return { url, stop: () => server.stop() };
    },
  ],
  ['a Redis cluster', startRedisCluster],
  ['Redis behind sentinels', startRedisSentinel],
];

// One after another: the bounds of the library for Redis are those of real time.
describe('on Redis', { skip: missing ?? false }, () => {
  for (const [name, start] of ENGINES) {
    describe(name, () => {
      let engine: Awaited<ReturnType<typeof start>>;
      let front: LimiterFront;
      let closing: (() => Promise<void>) | undefined;
      before(async () => {
        engine = await start();
        const onEnd = (close: () => Promise<void>): void => {
          closing = close;
        };
        const [opened] = await openLimiterFronts(1, { GRANTD_REDIS_URL: engine.url }, onEnd, patientClock);
        if (opened === undefined) throw new RangeError('One front was opened.');
        front = opened;
        // The first answers come over connections that are just being made.
        const byShare = () => opened.value('grantd_rate_limit_decisions_total', { source: 'share' });
        await waitFor('every connection', async () => {
          const before = await byShare();
          for (let count = 0; count < 20; count += 1) await opened.limiter.consume(newTenant(), planOf(3, 60));
          return (await byShare()) === before;
        });
      });
      after(async () => {
        await closing?.();
        await engine?.stop();
      });
      defineLimiterContract(name, () => front.limiter);
    });
  }

  it('over TLS is judged by the authority that is given', async (t) => {
    const authority = await createAuthority();
    const { cert, key, ca } = await authority.issue('redis', ['IP:127.0.0.1']);
    const directory = useDirectory();
    const files = Object.entries({ cert, key, ca }).map(([name, text]) => {
      const path = join(directory, name);
      writeFileSync(path, text);
      return path;
    });
    const [certFile = '', keyFile = '', caFile = ''] = files;
    const port = await freePort();
    const server = await RedisServer.start([
      ...['--tls-port', String(port), '--tls-cert-file', certFile, '--tls-key-file', keyFile],
      ...['--tls-ca-cert-file', caFile, '--tls-auth-clients', 'no'],
    ]);
    t.after(() => server.stop());
    const settings = { GRANTD_REDIS_URL: `rediss://127.0.0.1:${port}` };
    const onEnd = (close: () => Promise<void>): void => t.after(close);
    await openLimiterFronts(1, { ...settings, GRANTD_REDIS_TLS_CA: ca }, onEnd);
    const distrusting = await openLimiterFront(settings, onEnd);
    const isLost = async () => (await distrusting.value('grantd_redis_lost')) === 1;
    await waitFor('the certificate to be refused', isLost, undefined, () => distrusting.lines.join('\n'));
    assert.match(distrusting.lines.join('\n'), /certificate/);
  });

  describe('with several fronts', () => {
    let server: RedisServer;
    before(async () => {
      server = await RedisServer.start();
    });
    after(() => server?.stop());

    const openFronts = (t: TestContext, count: number) =>
      openLimiterFronts(
        count,
        { GRANTD_REDIS_URL: `redis://${server.address}` },
        (close) => t.after(close),
        patientClock,
      );

    for (const [requests, what] of [
      [100, 'of ten a second or less'],
      [2000, 'of more'],
    ] as const) {
      it(`lets exactly the limit of a plan through, ${what}`, async (t) => {
        const fronts = await openFronts(t, 4);
        const [tenant, plan] = [newTenant(), planOf(requests, 60)];
        const asked = fronts.flatMap((front) =>
          Array.from({ length: requests }, () => front.limiter.consume(tenant, plan)),
        );
        const decisions = await Promise.all(asked);
        assert.equal(decisions.filter((decision) => decision?.allowed === true).length, requests);
      });
    }

    it('leaves keys that expire, all with one prefix', async (t) => {
      const [front] = await openFronts(t, 1);
      await front?.limiter.consume(newTenant(), planOf(100, 60));
      const keys = (await server.command('keys', '*')).split('\n').filter((key) => key !== '');
      assert.ok(keys.length > 0);
      for (const key of keys) {
        assert.match(key, /^grantd:/);
        assert.ok(Number(await server.command('pttl', key)) !== -1, key);
      }
    });

    it('leaves the set of the fronts when they end', async (t) => {
      const fronts = await openFronts(t, 3);
      await Promise.all(fronts.map((front) => front.close()));
      assert.equal(await server.command('zcard', 'grantd:fronts'), '0');
    });
  });
});
