// Rate limits over HTTP with four fronts, each a process of its own, on one real Redis: the limit holds over all of
// them, a plan changed by the operator comes into force on each, and a Redis that is killed costs no readiness.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { missingRedis, RedisServer } from '../../../tools/engines/redis.ts';
import { type Answer, call } from '../../kit/http-client.ts';
import { type HttpService, startHttpService } from '../../kit/http-service.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { type LoopbackNetwork, takeNetwork } from '../support/loopback-network.ts';
import { ServiceProcess } from '../support/service-process.ts';

const MAIN = new URL('../../../src/main.ts', import.meta.url).pathname;
const [HTTP_PORT, OPS_PORT, RPC_PORT] = [8080, 8081, 8082];
const FURTHER_FRONTS = 3;
const FRONTS = FURTHER_FRONTS + 1;
const [HUNDREDS, WINDOW_SECONDS] = [400, 30];
const PLANS = { hundreds: { requests: HUNDREDS, window_seconds: WINDOW_SECONDS } };

const missing = await missingRedis('rate limits over several fronts, as processes');

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

describe('the rate limits of several fronts', { skip: missing ?? false }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-limits-'));
  const further: ServiceProcess[] = [];
  let redis: RedisServer;
  let loopback: LoopbackNetwork;
  let service: HttpService;
  /** Where each front answers, and where it tells how it is. */
  let fronts: readonly { readonly url: string; readonly opsUrl: string }[];

  before(async () => {
    redis = await RedisServer.start();
    loopback = await takeNetwork();
    const rpcAddress = `${loopback.network}.1:${RPC_PORT}`;
    const settings = { GRANTD_REDIS_URL: `redis://${redis.address}`, GRANTD_PLANS: JSON.stringify(PLANS) };
    service = await startHttpService({ ...settings, GRANTD_RPC_ADDRESS: rpcAddress });
    for (let index = 0; index < FURTHER_FRONTS; index += 1) {
      const host = `${loopback.network}.${index + 2}`;
      const environment = {
        ...settings,
        GRANTD_HTTP_ADDRESS: `${host}:${HTTP_PORT}`,
        GRANTD_OPS_ADDRESS: `${host}:${OPS_PORT}`,
        GRANTD_BASE_URL: `http://${host}:${HTTP_PORT}`,
        GRANTD_DISCOVERY: `static:${rpcAddress}`,
        GRANTD_DRAIN_SECONDS: '0',
      };
      const name = `front-${index}`;
      const opsUrl = `http://${host}:${OPS_PORT}`;
      const options = { name, args: [MAIN, 'front'], environment, logFile: join(directory, name), opsUrl };
      const front = new ServiceProcess(options);
      front.start();
      further.push(front);
    }
    await Promise.all(further.map((front) => front.waitUntilReady()));
    fronts = [
      { url: service.baseUrl, opsUrl: service.opsUrl },
      ...further.map(({ options }) => ({
        url: options.environment.GRANTD_BASE_URL ?? '',
        opsUrl: options.opsUrl ?? '',
      })),
    ];
    await waitForMetric('grantd_redis_fronts', FRONTS);
  });
  after(async () => {
    await Promise.all(further.map((front) => front.stop()));
    await service?.stop();
    await redis?.stop();
    loopback?.release();
    rmSync(directory, { recursive: true, force: true });
  });

  const frontAt = (index: number) => fronts[index % fronts.length] ?? assert.fail('There is a front.');

  async function waitForMetric(name: string, value: number): Promise<void> {
    await waitFor(`${name} to be ${value} on every front`, async () => {
      const texts = await Promise.all(fronts.map(({ opsUrl }) => call(opsUrl, { method: 'GET', path: '/metrics' })));
      return texts.every(({ text }) => text.split('\n').includes(`${name} ${value}`));
    });
  }

  async function sumOfMetric(series: string): Promise<number> {
    const texts = await Promise.all(fronts.map(({ opsUrl }) => call(opsUrl, { method: 'GET', path: '/metrics' })));
    const lines = texts.flatMap(({ text }) => text.split('\n')).filter((line) => line.startsWith(`${series} `));
    return sum(lines.map((line) => Number(line.slice(series.length))));
  }

  const list = (index: number, key: string): Promise<Answer> =>
    call(frontAt(index).url, { method: 'GET', path: '/v1/namespaces', key });

  /** Requests to the fronts in turn, some at a time; how many each let through. */
  async function allowedOf(key: string, requests: number): Promise<number[]> {
    const allowed = fronts.map(() => 0);
    let next = 0;
    const send = async (): Promise<void> => {
      while (next < requests) {
        const front = next % FRONTS;
        next += 1;
        const { status } = await list(front, key);
        assert.ok(status === 200 || status === 429, String(status));
        if (status === 200) allowed[front] = (allowed[front] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: 16 }, send));
    return allowed;
  }

  const decidedByShare = (): Promise<number> => sumOfMetric('grantd_rate_limit_decisions_total{source="share"}');

  /**
   * What each front lets through of four times the hundreds of a new tenant. Again with another one if its window ended
   * meanwhile, or if Redis replied too late to some.
   */
  async function hundredsAllowed(redisIs: 'there' | 'gone'): Promise<number[]> {
    const requests = 4 * HUNDREDS;
    let allowed: number[] = [];
    await waitFor('a count within a window, with Redis or without it', async () => {
      const { key } = await service.createTenant('hundreds');
      const [startMs, before] = [performance.now(), await decidedByShare()];
      allowed = await allowedOf(key, requests);
      const byShare = (await decidedByShare()) - before;
      const inWindow = performance.now() - startMs < 1000 * WINDOW_SECONDS;
      return inWindow && byShare === (redisIs === 'gone' ? requests : 0);
    });
    return allowed;
  }

  it('are those of the plan, however many fronts there are', async () => {
    assert.equal(sum(await hundredsAllowed('there')), HUNDREDS);
    const { key } = await service.createTenant('free');
    const before = await decidedByShare();
    const allowed = sum(await allowedOf(key, 700));
    // Exact, but for those to which Redis replied too late.
    const late = (await decidedByShare()) - before;
    assert.ok(Math.abs(allowed - 600) <= late, `${allowed} allowed, ${late} answered late`);
  });

  it('follow a plan that the operator changes, on every front, although none lets a request through', async () => {
    const { tenantId, key } = await service.createTenant('hundreds');
    await allowedOf(key, 2 * HUNDREDS);
    const patch = { method: 'PATCH', path: `/operator/v1/tenants/${tenantId}`, key: service.operatorToken };
    for (const [plan, limit] of [
      ['scale', '10000'],
      ['hundreds', String(HUNDREDS)],
    ]) {
      assert.equal((await call(service.consoleUrl, { ...patch, body: { plan } })).status, 200);
      for (let index = 0; index < FRONTS; index += 1) {
        const holds = async () => (await list(index, key)).headers['x-service-ratelimit-limit'] === limit;
        await waitFor(`the plan ${plan} on front ${index}`, holds);
      }
    }
  });

  it('are shares while Redis is gone; every front stays ready, and they are shared again when it is back', async () => {
    await redis.kill();
    await waitForMetric('grantd_redis_lost', 1);
    assert.deepEqual(
      await hundredsAllowed('gone'),
      fronts.map(() => HUNDREDS / FRONTS),
    );
    for (const { opsUrl } of fronts) {
      assert.equal((await call(opsUrl, { method: 'GET', path: '/readyz' })).status, 200);
    }
    await redis.restart();
    await waitForMetric('grantd_redis_lost', 0);
    await waitForMetric('grantd_redis_fronts', FRONTS);
    assert.equal(sum(await hundredsAllowed('there')), HUNDREDS);
  });
});
