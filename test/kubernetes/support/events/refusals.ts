// What is wrong from the start: a clear word at the installation or in the pod, no readiness, and health by itself once
// it is mended. Each in a release of its own.

import assert from 'node:assert/strict';
import { Client } from 'cassandra-driver';
import { waitFor } from '../../../kit/wait-for.ts';
import { type Pod, Release } from '../release.ts';
import type { Event, EventBench } from './event.ts';

const WORD_MS_MAX = 60_000;
const HEALED_MS_MAX = 120_000;
export const FIRST_TAG = '1.0.0';
/** The first of the addresses is the main release's. */
const STORE_ADDRESSES = { noSecret: 2, noCassandra: 3, oldSchema: 4 };
const SMALL = { shard: { replicas: 1 }, front: { replicas: 1 } };

const WRONG_VALUES: readonly (readonly [what: string, values: object, word: RegExp])[] = [
  ['a number that is none', { shard: { replicas: 'many' } }, /replicas/],
  ['a value that is not there', { shards: { replicas: 2 } }, /shards/],
  ['a cache that the memory cannot hold', { shard: { pageCacheBytes: '2Gi' } }, /raise it to 4352Mi/],
  ['no node of Cassandra', { cassandra: { contactPoints: [] } }, /contactPoints/],
];

const wrongValues: Event = {
  name: 'wrong values are refused by helm install, which names them',
  async run({ kubernetes, cassandra }) {
    const options = { kubernetes, cassandra, namespace: 'wrong', imageTag: FIRST_TAG, storeAddress: 9 };
    const release = new Release(options);
    await release.createNamespace();
    for (const [what, values, word] of WRONG_VALUES) await assert.rejects(release.install({ ...values }), word, what);
    assert.equal(JSON.parse(await release.kubectl(['get', 'pods', '-o', 'json'])).items.length, 0);
  },
};

async function withRelease(
  { kubernetes, cassandra, say }: EventBench,
  namespace: string,
  storeAddress: number,
  run: (release: Release) => Promise<void>,
): Promise<void> {
  const release = new Release({ kubernetes, cassandra, namespace, imageTag: FIRST_TAG, storeAddress });
  await release.createNamespace();
  try {
    await run(release);
  } catch (error) {
    say(await release.describe());
    throw error;
  } finally {
    await release.helm(['uninstall', 'grantd', '--ignore-not-found']);
    await release.close();
    await kubernetes.kubectl(['delete', 'namespace', namespace, '--wait=false']);
  }
}

/** Resolves with the line once a shard's pod, its schema's waiter, or what Kubernetes says of it has such a word. */
async function waitForWord(release: Release, word: RegExp): Promise<string> {
  let texts = '';
  await waitFor(
    `a word like ${word}`,
    async () => {
      texts = await release.describe();
      return word.test(texts);
    },
    WORD_MS_MAX,
    () => texts,
  );
  return texts.split('\n').find((line) => word.test(line)) ?? '';
}

async function assertNotReady(release: Release): Promise<void> {
  for (const pod of await release.pods('shard')) assert.ok(!pod.ready, `${pod.name} is ready`);
}

async function waitUntilWell(release: Release): Promise<void> {
  let pods: Pod[] = [];
  await waitFor(
    'shards and fronts to be ready',
    async () => {
      pods = [...(await release.pods('shard')), ...(await release.pods('front'))];
      return pods.length === 2 && pods.every(({ ready }) => ready);
    },
    HEALED_MS_MAX,
    () => JSON.stringify(pods),
  );
}

const missingSecret: Event = {
  name: 'a Secret that is missing is named, and the release heals once it is there',
  run: (bench) =>
    withRelease(bench, 'no-secret', STORE_ADDRESSES.noSecret, async (release) => {
      await release.openStore();
      await release.install({ ...SMALL, cassandra: { credentials: { existingSecret: 'role-of-grantd' } } });
      bench.say(`  ${await waitForWord(release, /secret "role-of-grantd" not found/)}`);
      await assertNotReady(release);
      const literals = ['--from-literal=username=cassandra', '--from-literal=password=cassandra'];
      await release.kubectl(['create', 'secret', 'generic', 'role-of-grantd', ...literals]);
      await waitUntilWell(release);
    }),
};

const noCassandra: Event = {
  name: 'Cassandra that cannot be reached is named, and the release heals once it can be',
  run: (bench) =>
    withRelease(bench, 'no-cassandra', STORE_ADDRESSES.noCassandra, async (release) => {
      await release.install(SMALL);
      bench.say(`  ${await waitForWord(release, /waiting for the schema.*store|Cassandra.*reach/i)}`);
      await assertNotReady(release);
      await release.openStore();
      await waitUntilWell(release);
    }),
};

const oldSchema: Event = {
  name: 'a schema that is too old is named, and shards go on once it is migrated',
  run: (bench) =>
    withRelease(bench, 'old-schema', STORE_ADDRESSES.oldSchema, async (release) => {
      await release.openStore();
      await release.install(SMALL);
      await waitUntilWell(release);
      // As an earlier version would have left it. The Job has run and does not run again by itself.
      await shiftSchemaVersion(bench, release, -1);
      await release.kubectl(['delete', 'pod', 'grantd-shard-0']);
      bench.say(`  ${await waitForWord(release, /the schema is at version .* this program needs/)}`);
      await assertNotReady(release);
      await shiftSchemaVersion(bench, release, 1);
      await waitUntilWell(release);
    }),
};

/** Changes the version that the keyspace says it has. */
async function shiftSchemaVersion({ cassandra }: EventBench, { keyspace }: Release, by: number): Promise<void> {
  const { contactPoints, localDatacenter } = cassandra;
  const client = new Client({ contactPoints: [...contactPoints], localDataCenter: localDatacenter, keyspace });
  try {
    const { rows } = await client.execute('SELECT schema_version FROM meta');
    const version = Number(rows[0]?.schema_version) + by;
    const update = "UPDATE meta SET schema_version = ? WHERE id = 'cluster' IF EXISTS";
    await client.execute(update, [version], { prepare: true });
  } finally {
    await client.shutdown();
  }
}

export const REFUSALS: readonly Event[] = [wrongValues, missingSecret, noCassandra, oldSchema];
