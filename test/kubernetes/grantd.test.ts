// grantd on a real Kubernetes: installed by its chart, under a steady load on its Service, it survives what happens to
// pods, to nodes, to the control plane and to its own settings, without a failed request or a wrong answer.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type CassandraCluster, missingCassandra, startCassandra } from '../../tools/engines/cassandra.ts';
import { KubernetesCluster, missingKubernetes } from '../../tools/engines/kubernetes/cluster.ts';
import { buildImage } from '../../tools/engines/kubernetes/image.ts';
import { missingRedis, RedisServer } from '../../tools/engines/redis.ts';
import type { Event, EventBench } from './support/events/event.ts';
import { GUIDED } from './support/events/guides.ts';
import { LIMITS } from './support/events/limits.ts';
import { LOSSES } from './support/events/losses.ts';
import { OUTAGES } from './support/events/outages.ts';
import { RESCALING } from './support/events/rescaling.ts';
import { NEXT_TAG, ROLLOUTS } from './support/events/rollouts.ts';
import { FIRST_TAG, STANDALONE } from './support/events/standalone.ts';
import { answerFirstCheck } from './support/first-check.ts';
import { Release } from './support/release.ts';

const NAME = 'grantd on a real Kubernetes';
const NODES = 2;
/** Of the host, as pods see it: where Cassandra and Redis listen. */
const STORE_ADDRESS = 1;
const FIRST_CHECK_MS_MAX = 60_000;
/** Every wait of an event has a bound of its own; an event that were cut off here would go on beside the next. */
const EVENT_MS_MAX = 600_000;

const missing = (await missingKubernetes(NAME)) ?? (await missingCassandra(NAME)) ?? (await missingRedis(NAME));

describe(NAME, { skip: missing ?? false }, () => {
  let cassandra: CassandraCluster | undefined;
  let kubernetes: KubernetesCluster | undefined;
  let redis: RedisServer | undefined;
  let release: Release | undefined;
  const bench = (say: (text: string) => void): EventBench => {
    if (cassandra === undefined || kubernetes === undefined || redis === undefined || release === undefined)
      throw new Error('Nothing runs.');
    return { cassandra, kubernetes, redis, release, say };
  };

  before(async () => {
    [cassandra, kubernetes] = await Promise.all([
      startCassandra({ nodes: 1 }),
      KubernetesCluster.start({ nodes: NODES }),
    ]);
    for (const tag of [FIRST_TAG, NEXT_TAG]) await kubernetes.loadImage(await buildImage(tag, kubernetes.directory));
    const host = kubernetes.hostAddress(STORE_ADDRESS);
    redis = await RedisServer.start(['--bind', '127.0.0.1', host, '--protected-mode', 'no']);
    release = new Release({
      kubernetes,
      cassandra,
      namespace: 'grantd',
      imageTag: FIRST_TAG,
      storeAddress: STORE_ADDRESS,
      redisUrl: `redis://${host}:${redis.port}`,
    });
    await release.openStore();
    await release.createNamespace();
  });
  after(async () => {
    await release?.close();
    await redis?.stop();
    await kubernetes?.stop();
    await cassandra?.stop();
  });

  const test = (name: string, run: (bench: EventBench) => Promise<void>): void => {
    it(name, { timeout: EVENT_MS_MAX }, async (context) => {
      const it = bench((text) => context.diagnostic(text));
      try {
        await run(it);
      } catch (error) {
        process.stderr.write(`\n${await it.release.describe().catch(String)}\n`);
        throw error;
      }
    });
  };

  test('the first check is answered within 60 s of helm install, and helm test passes', async (it) => {
    const startMs = performance.now();
    await it.release.install();
    await it.release.connect();
    await answerFirstCheck(it.release);
    const tookMs = performance.now() - startMs;
    it.say(`  the first check was answered after ${(tookMs / 1000).toFixed(1)} s`);
    await it.release.waitUntilRolledOut();
    await it.release.helm(['test', 'grantd', '--logs']);
    assert.ok(tookMs < FIRST_CHECK_MS_MAX, `${tookMs} ms`);
  });

  test('nothing keeps the rights to make Secrets once they are made', async (it) => {
    const made = await it.release.kubectl(['get', 'secret', '--output', 'name']);
    assert.match(made, /^secret\/grantd-tls-authority$/m);
    const kinds = 'serviceaccount,role,rolebinding,networkpolicy,job,pod';
    const selector = 'app.kubernetes.io/component=secrets';
    assert.equal(await it.release.kubectl(['get', kinds, '--selector', selector, '--output', 'name']), '');
  });

  const events: readonly Event[] = [
    ...RESCALING,
    ...ROLLOUTS,
    ...LOSSES,
    ...OUTAGES,
    ...LIMITS,
    ...GUIDED,
    ...STANDALONE,
  ];
  for (const event of events) {
    test(event.name, async (it) => {
      // As at first, whatever the event before left behind.
      await it.release.scale('shard', 2);
      await it.release.scale('front', 2);
      await it.release.waitUntilRolledOut();
      await it.release.waitUntilServedBy(2);
      await event.run(it);
    });
  }
});
