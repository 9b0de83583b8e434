// A shard's call to itself, over its own gRPC server, by the path that a front would use. A process whose server no
// longer responds, while its heartbeats continue, would keep its slots and serve none of them.

import { credentials as grpcCredentials } from '@grpc/grpc-js';
import type { Clock, Random, Timer } from '../../core/async/clock.ts';
import { Peer } from '../../rpc/messages.ts';
import type { ClusterIdentity } from '../../rpc/transport/cluster-identity.ts';
import { createGrpcTransport } from '../../rpc/transport/grpc-transport.ts';
import { dialShard } from '../../rpc/transport/shard-dialer.ts';
import type { RpcTls } from '../../rpc/transport/tls.ts';
import type { OpenStream } from '../../rpc/transport/transport.ts';

const PING_INTERVAL_MS = 1000;
/** Without a pong for this long, the connection is replaced: it may be the cause. */
const REDIAL_MS = 4000;
/** By then, two connections in a row have brought no pong; a machine that is merely busy manages that. */
const SILENCE_MS_MAX = 10_000;

export interface LoopBack {
  /** False: the server has not responded for 10 s. True before its first response, because it may still be starting. */
  readonly healthy: boolean;
  close(): void;
}

export function openLoopBack(
  dependencies: {
    readonly clock: Clock;
    readonly random: Random;
    readonly openStream: OpenStream;
    readonly cluster: ClusterIdentity;
  },
  options: { readonly address: string; readonly name: string; readonly version: string; readonly slots: number },
): LoopBack {
  const { clock, random, openStream, cluster } = dependencies;
  const { address, name, version, slots } = options;
  let pongAtMs: number | undefined;
  let resetAtMs = 0;
  let tickedAtMs = clock.monotonicMs();
  let pings = 0;
  let timer: Timer;

  const dial = dialShard(
    address,
    {
      onReady: () => {},
      onMessage: (message) => {
        if (message.pong !== null) pongAtMs = clock.monotonicMs();
      },
      onDrain: () => {},
      onClosed: () => {},
    },
    {
      clock,
      random,
      openStream,
      cluster,
      hello: () => ({ version, name, peer: Peer.PEER_FRONT, slots }),
    },
  );

  /** The process itself was suspended: what arrived since then has not been read yet. */
  const overslept = (nowMs: number): boolean => nowMs - tickedAtMs > 2 * PING_INTERVAL_MS;

  function tick(): void {
    const nowMs = clock.monotonicMs();
    if (pongAtMs !== undefined) {
      if (overslept(nowMs)) pongAtMs = Math.max(pongAtMs, nowMs - PING_INTERVAL_MS);
      if (nowMs - Math.max(pongAtMs, resetAtMs) > REDIAL_MS) {
        resetAtMs = nowMs;
        dial.reset('The shard did not respond to its own call.');
      }
    }
    tickedAtMs = nowMs;
    pings += 1;
    dial.send({ ping: { id: pings } });
    timer = clock.setTimer(tick, PING_INTERVAL_MS);
  }
  timer = clock.setTimer(tick, PING_INTERVAL_MS);

  return {
    get healthy() {
      const nowMs = clock.monotonicMs();
      return pongAtMs === undefined || overslept(nowMs) || nowMs - pongAtMs <= SILENCE_MS_MAX;
    },
    close() {
      timer.cancel();
      dial.close();
    },
  };
}

/** Over gRPC, as a front would, with the shard's own certificate. */
export function loopBackTransport(tls: RpcTls | undefined): OpenStream {
  return createGrpcTransport({
    credentials: () => tls?.loopBackCredentials() ?? grpcCredentials.createInsecure(),
  });
}
