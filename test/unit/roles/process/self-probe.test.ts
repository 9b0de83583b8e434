// A shard's call to itself, with a server that answers or does not.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { type LoopBack, loopBackTransport, openLoopBack } from '../../../../src/roles/process/self-probe.ts';
import { loopBackAddress } from '../../../../src/roles/process/shard-identity.ts';
import { systemClock, systemRandom } from '../../../../src/roles/process/system.ts';
import type { ReceivedShardMessage } from '../../../../src/rpc/messages.ts';
import { listenShardServer } from '../../../../src/rpc/serving/server.ts';
import { createRpcTls } from '../../../../src/rpc/transport/tls.ts';
import type { ClientStreamHandlers } from '../../../../src/rpc/transport/transport.ts';
import { createLog } from '../../../../src/telemetry/log.ts';
import { createMetrics } from '../../../../src/telemetry/metrics.ts';
import { createAuthority } from '../../../kit/certificates.ts';
import { ScriptedShard, ShardWorld } from '../../../kit/scripted-shard.ts';
import { CLUSTER_ID } from '../../../kit/store/store-fixtures.ts';
import { createTestCluster } from '../../../kit/test-cluster.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';
import { waitFor } from '../../../kit/wait-for.ts';

describe('the loop-back call of a shard', () => {
  let clock: VirtualClock;
  let up: boolean;
  /** Streams that were opened before swallow all, as one that hangs. */
  let hanging: boolean;
  let dials: number;
  let clusterId: string;
  let loopBack: LoopBack;

  beforeEach(() => {
    clock = new VirtualClock();
    up = true;
    hanging = false;
    dials = 0;
    clusterId = CLUSTER_ID;
    loopBack = openLoopBack(
      {
        clock,
        random: systemRandom,
        cluster: createTestCluster(),
        openStream: (_address, handlers: ClientStreamHandlers) => {
          dials += 1;
          let welcomed = false;
          return {
            write: () => {
              clock.setTimer(() => {
                if (!up) return handlers.onError('refused');
                if (hanging) return undefined;
                // Only what the probe looks at.
                const welcome = welcomed ? null : { slots: 256, clusterId };
                welcomed = true;
                return handlers.onMessage({ welcome, pong: { id: 0, shardMs: 0 } } as ReceivedShardMessage);
              }, 1);
              return true;
            },
            cancel: () => {},
          };
        },
      },
      { address: '127.0.0.1:1', name: 'itself', version: '1', slots: 256 },
    );
  });

  it('is healthy while it is answered', async () => {
    await clock.advance(60_000);
    assert.equal(loopBack.healthy, true);
    assert.equal(dials, 1);
  });

  it('judges nothing before the first answer', async () => {
    up = false;
    await clock.advance(60_000);
    assert.equal(loopBack.healthy, true);
    up = true;
    await clock.advance(5000);
    up = false;
    await clock.advance(11_000);
    assert.equal(loopBack.healthy, false);
  });

  it('is unhealthy after 10 s without an answer, also over a new connection, and healthy again with the next', async () => {
    await clock.advance(3000);
    hanging = true;
    await clock.advance(8000);
    assert.equal(loopBack.healthy, true);
    assert.ok(dials > 1);
    await clock.advance(3500);
    assert.equal(loopBack.healthy, false);
    hanging = false;
    await clock.advance(5000);
    assert.equal(loopBack.healthy, true);
  });

  it('ignores the time in which the process itself was suspended', async () => {
    await clock.advance(3000);
    clock.stall(20_000);
    assert.equal(loopBack.healthy, true);
    await clock.advance(500);
    assert.equal(loopBack.healthy, true);
  });

  it('ends when it is closed', async () => {
    loopBack.close();
    await clock.advance(10_000);
    assert.equal(dials, 1);
    assert.equal(clock.timers, 0);
  });
});

describe('the loop-back call over gRPC', () => {
  for (const [how, names] of [
    ['without TLS', undefined],
    ['with a certificate that is for no address of loop-back', ['DNS:grantd-shard.default.svc']],
  ] as const) {
    it(`is answered by a real server, ${how}`, async (context) => {
      const log = createLog({ level: 'silent', pretty: false });
      const files = names && (await (await createAuthority()).issue('grantd-shard', names));
      const tls = files && createRpcTls(files, { log });
      const world = await ShardWorld.start();
      const shard = new ScriptedShard(world);
      const server = await listenShardServer(
        { shard: () => shard, clock: systemClock, log, metrics: createMetrics() },
        { address: '0.0.0.0:0', ...(tls === undefined ? {} : { credentials: tls.serverCredentials() }) },
      );
      const clock = new VirtualClock();
      const loopBack = openLoopBack(
        { clock, random: systemRandom, openStream: loopBackTransport(tls), cluster: createTestCluster() },
        { address: loopBackAddress(server.address), name: 'itself', version: '1', slots: 4 },
      );
      context.after(async () => {
        loopBack.close();
        tls?.close();
        await server.close();
        world.stop();
      });
      // Silence counts only after a first answer: where there was one, a stall of the server is noticed.
      await waitFor('the server to be reached', async () => {
        await clock.advance(1);
        return shard.connections.size > 0;
      });
      // What was asked before is still answered.
      await server.close();
      for (let round = 0; round < 120; round += 1) await clock.advance(100);
      assert.equal(loopBack.healthy, false);
    });
  }
});
