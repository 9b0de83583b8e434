// A bare stream to a shard's server, as a peer that keeps to no rule might open it.

import type { TestContext } from 'node:test';
import {
  type ClientDuplexStream,
  credentials,
  makeClientConstructor,
  type ServiceError,
  type StatusObject,
} from '@grpc/grpc-js';
import type { Turns } from '../../../src/core/async/turns.ts';
import { systemClock } from '../../../src/roles/process/system.ts';
import { type FrontMessage, Peer, type ReceivedReply, type ReceivedShardMessage } from '../../../src/rpc/messages.ts';
import { CLIENT_OPTIONS, ShardClient, shardService } from '../../../src/rpc/protocol.ts';
import { listenShardServer, type ShardServer } from '../../../src/rpc/serving/server.ts';
import type { Shard } from '../../../src/shard/shard.ts';
import { createLog, type Log } from '../../../src/telemetry/log.ts';
import { createMetrics, type Metrics } from '../../../src/telemetry/metrics.ts';

export const silentLog = createLog({ level: 'silent', pretty: false });

interface ListenOptions {
  readonly turns?: Turns;
  readonly log?: Log;
  readonly metrics?: Metrics;
  readonly unprovenPeers?: boolean;
}

export async function listen(
  t: TestContext,
  shard: () => Shard | undefined,
  { turns, log = silentLog, metrics = createMetrics(), unprovenPeers = true }: ListenOptions = {},
): Promise<ShardServer> {
  const server = await listenShardServer(
    { shard, clock: systemClock, log, metrics, turns },
    { address: '127.0.0.1:0', version: '1.2.3', unprovenPeers },
  );
  t.after(() => server.close());
  return server;
}

export const HELLO: FrontMessage = { hello: { name: 'test', peer: Peer.PEER_FRONT, version: '0', slots: 0 } };
export const CONSOLE_HELLO: FrontMessage = { hello: { name: 'test', peer: Peer.PEER_CONSOLE, version: '0', slots: 0 } };
export const SHARD_HELLO: FrontMessage = { hello: { name: 'test', peer: Peer.PEER_SHARD, version: '0', slots: 0 } };

/** Bytes in place of a message, for a client that sends them as they are. */
export const rawMessage = (bytes: Buffer): FrontMessage => bytes as unknown as FrontMessage;
export const RawClient = makeClientConstructor(
  { Exchange: { ...shardService.Exchange, requestSerialize: (bytes: Buffer) => bytes } },
  'raw',
) as unknown as typeof ShardClient;

export interface BareStream {
  readonly stream: ClientDuplexStream<FrontMessage, ReceivedShardMessage>;
  readonly messages: ReceivedShardMessage[];
  /** The next message for which the function gives something. */
  next<Value>(pick: (message: ReceivedShardMessage) => Value | undefined | null): Promise<Value>;
  reply(id: number): Promise<ReceivedReply>;
  readonly ended: Promise<StatusObject | ServiceError>;
}

export function openStream(
  t: TestContext,
  address: string,
  first?: FrontMessage,
  Client: typeof ShardClient = ShardClient,
): BareStream {
  const client = new Client(address, credentials.createInsecure(), CLIENT_OPTIONS);
  const stream = client.exchange();
  t.after(() => {
    stream.cancel();
    client.close();
  });
  const messages: ReceivedShardMessage[] = [];
  const listeners = new Set<() => void>();
  stream.on('data', (message: ReceivedShardMessage) => {
    messages.push(message);
    for (const listener of listeners) listener();
  });
  const ended = new Promise<StatusObject | ServiceError>((resolve) => {
    stream.on('error', () => {});
    stream.on('status', resolve);
  });
  if (first !== undefined) stream.write(first);
  let looked = 0;
  async function next<Value>(pick: (message: ReceivedShardMessage) => Value | undefined | null): Promise<Value> {
    for (;;) {
      for (; looked < messages.length; ) {
        const message = messages[looked];
        looked += 1;
        const value = message === undefined ? undefined : pick(message);
        if (value !== undefined && value !== null) return value;
      }
      const gone = await Promise.race([
        new Promise<undefined>((resolve) => {
          const listener = () => {
            listeners.delete(listener);
            resolve(undefined);
          };
          listeners.add(listener);
        }),
        ended,
      ]);
      if (gone !== undefined) throw new Error(`The stream ended: ${gone.code} ${gone.details}`);
    }
  }
  return {
    stream,
    messages,
    next,
    reply: (id) => next(({ replies }) => replies.find((reply) => reply.id === id)),
    ended,
  };
}
