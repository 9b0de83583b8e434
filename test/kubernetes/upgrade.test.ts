// The upgrade from the last release to this checkout, chart and image, and the way back: what was written before is
// there after, and clients notice nothing.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { type CassandraCluster, missingCassandra, startCassandra } from '../../tools/engines/cassandra.ts';
import { KubernetesCluster, missingKubernetes } from '../../tools/engines/kubernetes/cluster.ts';
import { buildImage } from '../../tools/engines/kubernetes/image.ts';
import { missingRedis, RedisServer } from '../../tools/engines/redis.ts';
import { assertNoFailures } from '../cluster/support/trials/trial.ts';
import { type EventBench, loaded } from './support/events/event.ts';
import { answerFirstCheck, check } from './support/first-check.ts';
import { lastRelease } from './support/last-release.ts';
import { Release } from './support/release.ts';

const NAME = 'the upgrade from the last release';
const ROOT = join(import.meta.dirname, '..', '..');
const TAGS = { before: '1.0.0', after: '1.0.1' } as const;
const STORE_ADDRESS = 1;
const TEST_MS_MAX = 900_000;
const run = promisify(execFile);

const missing = (await missingKubernetes(NAME)) ?? (await missingCassandra(NAME)) ?? (await missingRedis(NAME));

describe(NAME, { skip: missing ?? false }, () => {
  let cassandra: CassandraCluster;
  let kubernetes: KubernetesCluster;
  let redis: RedisServer;
  let release: Release;
  let key = '';
  const bench = (say: (text: string) => void): EventBench => ({ cassandra, kubernetes, redis, release, say });

  before(async () => {
    [cassandra, kubernetes] = await Promise.all([startCassandra({ nodes: 1 }), KubernetesCluster.start({ nodes: 2 })]);
    const released = join(kubernetes.directory, 'released');
    mkdirSync(released);
    const archive = join(kubernetes.directory, 'released.tar');
    await run('git', ['archive', '--output', archive, await lastRelease()], { cwd: ROOT });
    await run('tar', ['--extract', '--file', archive, '--directory', released]);
    await kubernetes.loadImage(await buildImage(TAGS.before, kubernetes.directory, released));
    await kubernetes.loadImage(await buildImage(TAGS.after, kubernetes.directory));
    const host = kubernetes.hostAddress(STORE_ADDRESS);
    redis = await RedisServer.start(['--bind', '127.0.0.1', host, '--protected-mode', 'no']);
    release = new Release({
      kubernetes,
      cassandra,
      namespace: 'grantd',
      imageTag: TAGS.before,
      storeAddress: STORE_ADDRESS,
      redisUrl: `redis://${host}:${redis.port}`,
      firstChart: join(released, 'charts', 'grantd'),
    });
    await release.openStore();
    await release.createNamespace();
    await release.install();
    await release.connect();
    key = await answerFirstCheck(release);
    await release.waitUntilRolledOut();
    await release.waitUntilServedBy(2);
  });
  after(async () => {
    await release?.close();
    await redis?.stop();
    await kubernetes?.stop();
    await cassandra?.stop();
  });

  const roll = (name: string, change: () => Promise<void>): void => {
    it(name, { timeout: TEST_MS_MAX }, async (context) => {
      try {
        const outcome = await loaded(
          bench((text) => context.diagnostic(text)),
          'upgrade-from-the-last-release',
          async () => {
            await change();
            await release.waitUntilServedBy(2);
          },
        );
        assertNoFailures(outcome);
        assert.equal(await check(release, key), true);
        await release.helm(['test', 'grantd', '--logs']);
      } catch (error) {
        process.stderr.write(`\n${await release.describe().catch(String)}\n`);
        throw error;
      }
    });
  };

  roll('to this checkout fails no request and keeps what was written', () =>
    release.upgrade({ image: { tag: TAGS.after } }),
  );
  roll('is undone by helm rollback, without a failed request', () => release.rollBack());
});
