// Discovery by Kubernetes against an API server that does what the real one does seldom: versions that expire, errors
// of every kind, answers that make no sense or never come. What is known stays, and no fault is met with a storm.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { LoadKubeConfig } from '../../../src/discovery/kubernetes/api-server.ts';
import { FakeApiServer } from './kubernetes-api/fake-api-server.ts';
import { kubeConfigText, loadFromText, plainCluster } from './kubernetes-api/kube-configs.ts';
import type { SliceFixture } from './kubernetes-api/slice-fixture.ts';
import { type WatchedDiscovery, watchDiscovery } from './kubernetes-api/watched-discovery.ts';

const NAMESPACE = 'grantd';
const SERVICE = 'shards';
const MINUTE_MS = 60_000;

const slice = (name: string, ...hosts: readonly string[]): SliceFixture => ({
  namespace: NAMESPACE,
  name,
  service: SERVICE,
  hosts,
});

describe('discovery by Kubernetes, when the API server', () => {
  let server: FakeApiServer;
  let load: LoadKubeConfig;
  /** Requests begun: the configuration is read for each. */
  let begun: number;
  let discovery: WatchedDiscovery;
  beforeEach(async () => {
    server = new FakeApiServer();
    const loadText = loadFromText(kubeConfigText(plainCluster(await server.listen()), { token: 'secret' }));
    begun = 0;
    load = () => {
      begun += 1;
      return loadText();
    };
    server.write(slice('a', '10.0.0.1'));
  });
  afterEach(async () => {
    discovery.stop();
    await server.close();
  });

  const watch = async (randomByte = 0): Promise<void> => {
    discovery = watchDiscovery(load, { namespace: NAMESPACE, service: SERVICE }, randomByte);
    await discovery.untilTold('10.0.0.1:8082');
    await discovery.untilWithoutTime('the watch to stand', () => server.watchers === 1);
    // Longer than a watch has to last.
    await discovery.clock.advance(1000);
  };
  /** Ends the watches that stand, as the server does in time, and waits for the next. */
  const endWatch = async (): Promise<void> => {
    const before = server.requests.length;
    server.endWatches();
    await discovery.until('the next request', () => server.requests.length > before && server.watchers === 1);
  };

  it('ends a watch in time, goes on from the version of the last bookmark and lists nothing', async () => {
    await watch();
    server.bookmark();
    await discovery.until('the bookmark to be taken', () => discovery.synced() >= 2);
    await discovery.clock.advance(MINUTE_MS);
    server.expire();
    server.bookmark();
    await discovery.until('the bookmark to be taken', () => discovery.synced() >= 3);
    await endWatch();
    server.write(slice('b', '10.0.0.2'));
    await discovery.untilTold('10.0.0.1:8082', '10.0.0.2:8082');
    assert.equal(server.lists.length, 1);
    const [first, second] = server.watches;
    assert.equal(first?.query.get('allowWatchBookmarks'), 'true');
    assert.equal(first?.query.get('timeoutSeconds'), '120');
    assert.equal(Number(second?.query.get('resourceVersion')), Number(first?.query.get('resourceVersion')) + 30);
    assert.deepEqual(discovery.failures, []);
  });

  it('kept quiet about a change, lists every 5 minutes all the same', async () => {
    await watch();
    server.writeUnseen(slice('a', '10.0.0.9'));
    await discovery.clock.advance(2 * MINUTE_MS);
    await endWatch();
    await discovery.clock.advance(2 * MINUTE_MS);
    await endWatch();
    assert.equal(server.lists.length, 1);
    // The rest of the five minutes, for the server as well.
    assert.ok(Number(server.watches.at(-1)?.query.get('timeoutSeconds')) <= 60);
    await discovery.clock.advance(MINUTE_MS);
    await endWatch();
    await discovery.untilTold('10.0.0.9:8082');
    assert.equal(server.lists.length, 2);
    assert.deepEqual(discovery.failures, []);
  });

  it('does not know a version any more, lists again, and counts no failure', async () => {
    await watch();
    server.expire();
    server.writeUnseen(slice('a', '10.0.0.2'));
    server.tellExpired();
    await discovery.untilToldInTime('10.0.0.2:8082');
    await discovery.until('the watch to stand', () => server.watchers === 1);
    server.trouble = { watch: 410 };
    server.writeUnseen(slice('a', '10.0.0.3'));
    await discovery.clock.advance(MINUTE_MS);
    server.endWatches();
    await discovery.untilToldInTime('10.0.0.3:8082');
    assert.deepEqual(discovery.failures, []);
    assert.deepEqual(discovery.warnings(), []);
  });

  for (const status of [429, 500, 503]) {
    it(`answers ${status}, is asked again more and more seldom, and for ever`, async () => {
      await watch();
      server.trouble = { list: status };
      server.endWatches();
      await discovery.untilWithoutTime('the first failure', () => discovery.failures.length === 1);
      const before = begun;
      for (const [index, restMs] of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000].entries()) {
        await discovery.clock.advance(restMs - 1);
        assert.equal(begun, before + index);
        await discovery.clock.advance(1);
        assert.equal(begun, before + index + 1);
        await discovery.untilWithoutTime('the next failure', () => discovery.failures.length === index + 2);
      }
      assert.ok(discovery.failures.every((reason) => reason === 'refused'));
      assert.equal(discovery.warnings().length, 1);
      assert.match(discovery.warnings()[0] ?? '', new RegExp(`told to answer ${status}`));
      server.trouble = {};
      server.writeUnseen(slice('a', '10.0.0.2'));
      await discovery.clock.advance(30_000);
      await discovery.untilToldInTime('10.0.0.2:8082');
    });
  }

  it('serves many fronts, is not asked by all at the same moment', async () => {
    await watch(255);
    await discovery.clock.advance(MINUTE_MS);
    await endWatch();
    await discovery.clock.advance(2 * MINUTE_MS);
    await endWatch();
    // The list is due three quarters of five minutes after the first.
    const left = Number(server.watches.at(-1)?.query.get('timeoutSeconds'));
    assert.ok(left > 30 && left <= 45, `${left}`);
    server.trouble = { list: 500 };
    server.endWatches();
    await discovery.untilWithoutTime('the first failure', () => discovery.failures.length === 1);
    const before = begun;
    await discovery.clock.advance(500);
    assert.equal(begun, before + 1);
  });

  it('lets nobody watch, is listed over and over in its place', async () => {
    await watch();
    server.trouble = { watch: 403 };
    server.endWatches();
    await discovery.until('three refusals', () => discovery.failures.length >= 3);
    server.writeUnseen(slice('a', '10.0.0.2'));
    await discovery.untilToldInTime('10.0.0.2:8082');
    assert.equal(discovery.warnings().length, 1);
  });

  it('ends every watch as it begins, is not asked in a storm', async () => {
    await watch();
    const startedMs = discovery.clock.monotonicMs();
    const ending = setInterval(() => server.endWatches(), 1);
    try {
      await discovery.until('five failures', () => discovery.failures.length >= 5);
    } finally {
      clearInterval(ending);
    }
    // On a busy machine some watches stand for a while before they are ended, and are no failures.
    const seconds = (discovery.clock.monotonicMs() - startedMs) / 1000;
    assert.ok(server.requests.length <= 16 + seconds, `${server.requests.length} requests in ${seconds} s`);
    assert.ok(discovery.failures.every((reason) => reason === 'interrupted'));
  });

  it('never answers, is given up after 10 seconds and asked again', async () => {
    await watch();
    server.hangs = true;
    server.endWatches();
    await discovery.until('the next request', () => server.requests.length === 3);
    await discovery.clock.advance(11_000);
    await discovery.until('the next failure', () => discovery.failures.at(-1) === 'unreachable');
    server.hangs = false;
    server.writeUnseen(slice('a', '10.0.0.2'));
    await discovery.untilToldInTime('10.0.0.2:8082');
  });

  const NONSENSE: readonly (readonly [string, string])[] = [
    ['no JSON', '{"metadata":'],
    ['no object', '[]'],
    ['no version', '{"metadata":{},"items":[]}'],
    ['items that are no list', '{"metadata":{"resourceVersion":"1"},"items":{}}'],
    ['an item that is no slice', '{"metadata":{"resourceVersion":"1"},"items":[{}]}'],
    ['more than anybody can hold', `{"metadata":{"resourceVersion":"1"},"items":[${' '.repeat(17 * 1024 * 1024)}]}`],
    [
      'more slices than any Service has',
      JSON.stringify({
        metadata: { resourceVersion: '1' },
        items: Array.from({ length: 1001 }, (_, index) => ({ metadata: { name: `s${index}` } })),
      }),
    ],
  ];
  for (const [what, body] of NONSENSE) {
    it(`answers a list with ${what}, is not believed`, async () => {
      await watch();
      server.body = body;
      server.expire();
      server.tellExpired();
      // The connection of the watch that has ended may fail first.
      await discovery.until('the refusal', () => discovery.failures.includes('invalid'));
      server.body = undefined;
      server.writeUnseen(slice('a', '10.0.0.2'));
      await discovery.untilToldInTime('10.0.0.2:8082');
      assert.equal(discovery.told.length, 2);
    });
  }

  const LINES: readonly (readonly [string, string])[] = [
    ['no JSON', '{"type":\n'],
    ['an unknown event', '{"type":"SURPRISE","object":{}}\n'],
    ['a line without end', 'x'.repeat(5 * 1024 * 1024)],
  ];
  for (const [what, text] of LINES) {
    it(`sends ${what} to a watch, is watched again`, async () => {
      await watch();
      server.send(text);
      await discovery.until('the next watch', () => server.watches.length === 2 && server.watchers === 1);
      server.write(slice('a', '10.0.0.2'));
      await discovery.untilToldInTime('10.0.0.2:8082');
      assert.deepEqual(discovery.failures, ['invalid']);
    });
  }

  it('sends an event in pieces, is understood', async () => {
    await watch();
    const object = {
      metadata: { name: '€', resourceVersion: '999' },
      endpoints: [{ addresses: ['10.0.0.3'] }],
      ports: [{ name: 'rpc', port: 8082 }],
    };
    const whole = JSON.stringify({ type: 'ADDED', object: { ...object, metadata: { ...object.metadata, name: 'b' } } });
    const bytes = Buffer.from(`${JSON.stringify({ type: 'MODIFIED', object })}\n`);
    const middle = bytes.indexOf('€') + 1;
    // Once the first event is told, the half of a character behind it has come as well.
    server.send(Buffer.concat([Buffer.from(`${whole}\n`), bytes.subarray(0, middle)]));
    await discovery.untilTold('10.0.0.1:8082', '10.0.0.3:8082');
    server.send(bytes.subarray(middle));
    server.send({ type: 'DELETED', object: { ...object, metadata: { ...object.metadata, name: 'b' } } });
    server.send({ type: 'DELETED', object });
    await discovery.untilTold('10.0.0.1:8082');
    assert.deepEqual(discovery.failures, []);
  });

  it('has no port of that name, says so once', async () => {
    server.write({
      ...slice('a', '10.0.0.1'),
      ports: [
        { name: 'ops', port: 8081 },
        { name: 'http', port: 8080 },
      ],
    });
    discovery = watchDiscovery(load, { namespace: NAMESPACE, service: SERVICE });
    await discovery.untilWithoutTime('the lack to be told', () => discovery.warnings().length > 0);
    assert.match(discovery.warnings()[0] ?? '', /no endpoint of the Service has the port rpc/);
    server.write(slice('a', '10.0.0.1'));
    await discovery.untilTold('10.0.0.1:8082');
    assert.equal(discovery.warnings().length, 1);
  });
});
