// Shards and peers of different clusters, over real gRPC: each end refuses the other, whatever kind of peer dials.

import assert from 'node:assert/strict';
import { after, describe, it, type TestContext } from 'node:test';
import { status } from '@grpc/grpc-js';
import { FairTurns } from '../../../src/core/async/turns.ts';
import { createStaticDiscovery } from '../../../src/discovery/discovery.ts';
import { createFront } from '../../../src/front/create-front.ts';
import { openLoopBack } from '../../../src/roles/process/self-probe.ts';
import { systemClock, systemRandom } from '../../../src/roles/process/system.ts';
import { OwnerLinks } from '../../../src/rpc/links/owner-links.ts';
import { Peer } from '../../../src/rpc/messages.ts';
import { createGrpcTransport } from '../../../src/rpc/transport/grpc-transport.ts';
import type { OpenStream } from '../../../src/rpc/transport/transport.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { ScriptedShard, ShardWorld } from '../../kit/scripted-shard.ts';
import { createRecordingLog } from '../../kit/store/store-directory.ts';
import { CLUSTER_ID, newClusterId, newTenantId } from '../../kit/store/store-fixtures.ts';
import { createTestCluster } from '../../kit/test-cluster.ts';
import { until } from '../front/harness.ts';
import { HELLO, listen, openStream, silentLog } from './harness.ts';

const world = await ShardWorld.start();
after(() => world.stop());
const FOREIGN = newClusterId();

/** It is of the cluster `CLUSTER_ID`. */
function createShard(): ScriptedShard {
  world.owners.clear();
  const shard = new ScriptedShard(world);
  shard.own([0, 1, 2, 3]);
  return shard;
}

/** Counts the streams that were opened. */
function countDials(): { readonly openStream: OpenStream; count: number } {
  const open = createGrpcTransport();
  const dials = {
    count: 0,
    openStream: (...[address, handlers]: Parameters<OpenStream>) => {
      dials.count += 1;
      return open(address, handlers);
    },
  };
  return dials;
}

/** Every kind of peer that dials shards; each of the cluster that it is given, and each wants to use the shard. */
const PEERS = {
  front: (t: TestContext, address: string, openStream: OpenStream, clusterId = FOREIGN) => {
    const front = createFront(
      { ...common(), openStream, discovery: createStaticDiscovery([address]) },
      { name: 'test', peer: 'front', clusterId },
    );
    t.after(() => front.close());
  },
  console: (t: TestContext, address: string, openStream: OpenStream, clusterId = FOREIGN) => {
    const front = createFront(
      { ...common(), openStream, discovery: createStaticDiscovery([address]) },
      { name: 'test', peer: 'console', clusterId },
    );
    t.after(() => front.close());
  },
  'shard that reads for tenants': (t: TestContext, address: string, openStream: OpenStream, clusterId = FOREIGN) => {
    const links = new OwnerLinks(
      { ...common(), turns: new FairTurns(systemClock), openStream, cluster: createTestCluster(clusterId) },
      { name: 'test', version: '', slots: 4 },
    );
    t.after(() => links.close());
    const request = { slot: 0, tenantId: newTenantId(), epoch: 1, seq: 1, isBeginning: false, usedKeys: [] };
    links.follow(address, request as never).catch(() => {});
  },
  'shard that calls itself': (t: TestContext, address: string, openStream: OpenStream, clusterId = FOREIGN) => {
    const loopBack = openLoopBack(
      { ...common(), openStream, cluster: createTestCluster(clusterId) },
      { address, name: 'test', version: '', slots: 4 },
    );
    t.after(() => loopBack.close());
  },
} as const;

const common = () => ({ clock: systemClock, random: systemRandom, log: silentLog, metrics: createMetrics() });

describe('a shard', () => {
  for (const [kind, peer] of [
    ['front', Peer.PEER_FRONT],
    ['console', Peer.PEER_CONSOLE],
    ['shard', Peer.PEER_SHARD],
  ] as const) {
    it(`refuses a ${kind} of another cluster: nothing but the name of its own crosses`, async (t) => {
      const shard = createShard();
      const [log, metrics] = [createRecordingLog(), createMetrics()];
      const server = await listen(t, () => shard, { log, metrics });
      for (let times = 1; times <= 3; times += 1) {
        const hello = { name: 'stray', peer, version: '0', slots: 0, clusterId: FOREIGN };
        const calls = [{ id: 1, readPosition: { tenantId: newTenantId() } }];
        const stream = openStream(t, server.address, { hello, calls, ping: { id: 1 } });
        const { code, details } = await stream.ended;
        assert.equal(code, status.FAILED_PRECONDITION);
        for (const id of [CLUSTER_ID, FOREIGN]) assert.ok(details.includes(id), details);
        assert.equal(stream.messages.length, 1);
        const [message] = stream.messages;
        assert.equal(message?.welcome?.clusterId, CLUSTER_ID);
        assert.deepEqual([message?.routes, message?.pong, message?.replies], [null, null, []]);
        assert.equal((await metrics.foreignClusterRefusals.get()).values[0]?.value, times);
      }
      assert.equal(shard.connections.size, 0);
      const errors = log.lines.filter((line) => line.startsWith('error: peer refused: it is of another cluster'));
      assert.equal(errors.length, 1, 'one line for a host and a cluster');
      const [line = ''] = errors;
      for (const part of [CLUSTER_ID, FOREIGN, 'stray']) assert.ok(line.includes(part), line);
    });
  }

  it('serves a peer that names its cluster, and one that does not know yet', async (t) => {
    const shard = createShard();
    const server = await listen(t, () => shard);
    for (const clusterId of ['', CLUSTER_ID]) {
      const stream = openStream(t, server.address, { hello: { ...HELLO.hello, clusterId } });
      assert.equal((await stream.next(({ welcome }) => welcome)).clusterId, CLUSTER_ID);
    }
    await until(() => shard.connections.size === 2);
  });

  it('ends the stream of a peer whose cluster is not the id of one', async (t) => {
    const server = await listen(t, () => createShard());
    for (const clusterId of ['clu_', CLUSTER_ID.slice(0, -1), `${CLUSTER_ID}\n`, 'x'.repeat(100_000)]) {
      const stream = openStream(t, server.address, { hello: { ...HELLO.hello, clusterId } });
      assert.equal((await stream.ended).code, status.INVALID_ARGUMENT);
    }
  });
});

describe('a shard of another cluster', () => {
  for (const [name, open] of Object.entries(PEERS)) {
    it(`is given up by a ${name}, also if it would serve it`, async (t) => {
      const shard = createShard();
      // A shard of an older program, or a hostile one: it serves whatever the hello says.
      let asked = 0;
      const hospitable = {
        welcome: () => {
          asked += 1;
          // First it is asked for the hello, then for the welcome.
          return { ...ScriptedShard.prototype.welcome.call(shard), clusterId: asked % 2 === 1 ? FOREIGN : CLUSTER_ID };
        },
      };
      Object.assign(shard, hospitable);
      const server = await listen(t, () => shard);
      const dials = countDials();
      open(t, server.address, dials.openStream);
      // It was given up twice before it is dialled again.
      await until(() => dials.count === 3, 'the third dial');
      assert.deepEqual(
        [...shard.counts.keys()].filter((each) => each !== 'close'),
        [],
      );
    });

    it(`is not given up by a ${name} of the same cluster`, async (t) => {
      const shard = createShard();
      const server = await listen(t, () => shard);
      const dials = countDials();
      open(t, server.address, dials.openStream, CLUSTER_ID);
      await until(() => shard.connections.size === 1, 'the connection');
      assert.equal(dials.count, 1);
    });
  }
});
