// A real Redis that is killed, hangs, is full, refuses the password, moves or is lost in part: fronts go on with their
// shares, say so once, and come back by themselves.

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { missingRedis, RedisServer, startRedisCluster, startRedisSentinel } from '../../../tools/engines/redis.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { newTenant, planOf } from './limiter-contract.ts';
import {
  countPromptly,
  type LimiterFront,
  openLimiterFront,
  openLimiterFronts,
  readShares,
  waitForFronts,
} from './redis-fronts.ts';

const missing = await missingRedis('the faults of Redis');
const PASSWORD = 'the-right-password';
const LIMIT = 1000;
/** Some are counted by each of three masters. */
const TENANTS = 12;
const PLAN = planOf(LIMIT, 60);
const SMALL_PLAN = planOf(10, 60);

async function startServer(t: TestContext, args: readonly string[] = [], password?: string): Promise<RedisServer> {
  const server = await RedisServer.start(args, password);
  t.after(() => server.stop());
  return server;
}

/** Requests that a front lets through of as many as are sent. */
async function allowedBy(front: LimiterFront, tenant: string, plan = PLAN, sent = 2 * LIMIT): Promise<number> {
  let allowed = 0;
  for (let index = 0; index < sent; index += 1) {
    if ((await front.limiter.consume(tenant, plan))?.allowed) allowed += 1;
  }
  return allowed;
}

/** The same of all of them together, for a new tenant, when Redis replies in time. */
const allowedByAll = (
  fronts: readonly LimiterFront[],
  onTenant: (tenant: string) => void = () => {},
): Promise<number> =>
  countPromptly(fronts, 2 * LIMIT, async () => {
    const tenant = newTenant();
    onTenant(tenant);
    const allowed = await Promise.all(fronts.map((front) => allowedBy(front, tenant)));
    return allowed.reduce((sum, each) => sum + each, 0);
  });

const explain = (fronts: readonly LimiterFront[]) => (): string =>
  fronts.map(({ lines }) => lines.join('\n')).join('\n--\n');

async function waitForLost(fronts: readonly LimiterFront[], lost: boolean): Promise<void> {
  const isSo = async () => {
    const values = await Promise.all(fronts.map((front) => front.value('grantd_redis_lost')));
    return values.every((value) => value === Number(lost));
  };
  await waitFor(`Redis to be ${lost ? 'lost' : 'back'}`, isSo, undefined, explain(fronts));
}

/** On a slow machine, another reason may come first: the next heartbeats find this one. */
const waitForReason = (
  fronts: readonly LimiterFront[],
  reason: string,
  starts: readonly number[] = [],
): Promise<void> =>
  waitFor(
    `the reason: ${reason}`,
    () =>
      fronts.every(({ lines }, index) =>
        lines.slice(starts[index]).some((line) => line.includes(`"reason":"${reason}"`) && line.includes('lost Redis')),
      ),
    undefined,
    explain(fronts),
  );

/**
 * Of each outage a line for each reason why Redis is gone, and one when it comes back, whatever happens in between; the
 * given reason in one of them. `from`: the lines before are of the start.
 */
function assertTold(front: LimiterFront, reason: string, from = 0): void {
  const told = front.lines.slice(from).filter((line) => /lost Redis|Redis recovered/.test(line));
  const outages = told
    .join('\n')
    .split(/^info .*"Redis recovered.*$/m)
    .map((text) =>
      text
        .trim()
        .split('\n')
        .map((line) => /^warn .*"reason":"(\w+)".* "lost Redis; this front enforces/.exec(line)?.[1]),
    );
  assert.equal(outages.filter((reasons) => reasons.includes(reason)).length, 1, told.join('\n'));
  assert.deepEqual(outages.pop(), [undefined], 'it is back');
  for (const reasons of outages) {
    assert.ok(!reasons.includes(undefined) && new Set(reasons).size === reasons.length, told.join('\n'));
  }
}

// One after another: fronts and servers at once would wait for each other longer than a front waits for a reply.
describe('Redis', { skip: missing ?? false }, () => {
  const OUTAGES: [string, string, (server: RedisServer) => unknown, (server: RedisServer) => unknown][] = [
    ['killed', 'unreachable', (server) => server.kill(), (server) => server.restart()],
    ['hung', 'timeout', (server) => server.pause(), (server) => server.resume()],
    [
      'full',
      'full',
      (server) => server.command('config', 'set', 'maxmemory', '1'),
      (server) => server.command('config', 'set', 'maxmemory', '0'),
    ],
  ];
  for (const [what, reason, breakIt, mendIt] of OUTAGES) {
    it(`${what}: each front goes on with limit ÷ fronts, says so once, and comes back`, async (t) => {
      const server = await startServer(t);
      const fronts = await openLimiterFronts(4, { GRANTD_REDIS_URL: `redis://${server.address}` }, (close) =>
        t.after(close),
      );
      const tenant = newTenant();
      const used = await Promise.all(fronts.map((front) => allowedBy(front, tenant, PLAN, 10)));
      assert.deepEqual(used, [10, 10, 10, 10]);
      const starts = fronts.map(({ lines }) => lines.length);

      await breakIt(server);
      // Nobody is refused or kept waiting for good while it is found out.
      const found = await Promise.all(fronts.map((front) => allowedBy(front, newTenant(), SMALL_PLAN, 2)));
      assert.deepEqual(found, [2, 2, 2, 2]);
      await waitForReason(fronts, reason, starts);
      await waitForLost(fronts, true);
      for (const front of fronts) {
        assert.equal(await allowedBy(front, tenant), LIMIT / 4 - 10, 'less what it used in this window');
        assert.equal(await allowedBy(front, newTenant()), LIMIT / 4);
        assert.ok((await front.value('grantd_redis_failures_total', { reason })) > 0);
      }

      await mendIt(server);
      await waitForLost(fronts, false);
      for (const [index, front] of fronts.entries()) assertTold(front, reason, starts[index]);
      await waitForFronts(fronts, 4);
      assert.equal(await allowedByAll(fronts), LIMIT);
    });
  }

  it('hung: only so many calls are in flight, and every request is decided', async (t) => {
    const server = await startServer(t);
    const [front] = await openLimiterFronts(1, { GRANTD_REDIS_URL: `redis://${server.address}` }, (close) =>
      t.after(close),
    );
    assert.ok(front !== undefined);
    server.pause();
    const decisions = Array.from({ length: 6000 }, () => front.limiter.consume(newTenant(), SMALL_PLAN));
    for (const decision of await Promise.all(decisions)) assert.equal(decision?.allowed, true);
    assert.ok((await front.value('grantd_redis_failures_total', { reason: 'busy' })) >= 1000);
  });

  it('that refuses the password, which is never told to anybody, is taken up once it does not', async (t) => {
    const server = await startServer(t, [], PASSWORD);
    const wrong = 'not-the-password';
    const front = await openLimiterFront(
      { GRANTD_REDIS_URL: `redis://${server.address}`, GRANTD_REDIS_PASSWORD: wrong },
      (close) => t.after(close),
    );
    await waitForReason([front], 'unauthorized');
    await waitForLost([front], true);
    assert.equal(await allowedBy(front, newTenant()), LIMIT);
    await server.command('config', 'set', 'requirepass', wrong);
    await waitForLost([front], false);
    assertTold(front, 'unauthorized');
    assert.ok(!front.lines.join('\n').includes(wrong));
  });

  it('that is not there at the start is taken up when it comes', async (t) => {
    const server = await startServer(t);
    await server.kill();
    const front = await openLimiterFront({ GRANTD_REDIS_URL: `redis://${server.address}` }, (close) => t.after(close));
    assert.equal(await allowedBy(front, newTenant()), LIMIT);
    await waitForReason([front], 'unreachable');
    await waitForLost([front], true);
    await server.restart();
    await waitForLost([front], false);
    assertTold(front, 'unreachable');
  });

  it('behind sentinels: the replica takes over', async (t) => {
    const group = await startRedisSentinel();
    t.after(() => group.stop());
    const fronts = await openLimiterFronts(2, { GRANTD_REDIS_URL: group.url }, (close) => t.after(close));
    const [master, replica] = group.servers;
    await master?.kill();
    await waitForLost(fronts, true);
    await waitForLost(fronts, false);
    let tenant = '';
    const allowed = await allowedByAll(fronts, (counted) => {
      tenant = counted;
    });
    assert.equal(allowed, LIMIT);
    assert.match((await replica?.command('keys', '*')) ?? '', new RegExp(tenant));
  });

  it('of three masters, one killed: its tenants go by shares, the others are counted; back, all are', async (t) => {
    const group = await startRedisCluster();
    t.after(() => group.stop());
    const fronts = await openLimiterFronts(2, { GRANTD_REDIS_URL: group.url }, (close) => t.after(close));
    // The set of the fronts is on one of them too: another is killed.
    const holder = await Promise.all(group.servers.map((server) => server.command('zcard', 'grantd:fronts')));
    const killed = group.servers.findIndex((_, index) => holder[index] !== '2');
    await group.servers[killed]?.kill();
    for (let tenant = 0; tenant < TENANTS; tenant += 1) assert.equal(await allowedByAll(fronts), LIMIT);
    assert.ok(
      (await readShares(fronts)).every((share) => share > 0),
      'some tenants were its',
    );
    await group.servers[killed]?.restart();
    const isWhole = async () => {
      const before = await fronts[0]?.value('grantd_redis_failures_total');
      for (let tenant = 0; tenant < TENANTS; tenant += 1)
        await allowedBy(fronts[0] ?? assert.fail(), newTenant(), PLAN, 2);
      return before === (await fronts[0]?.value('grantd_redis_failures_total'));
    };
    await waitFor('the cluster to be whole', isWhole, undefined, explain(fronts));
  });
});
