// The gRPC server of a shard. It listens before the shard is up, since the shard publishes the bound address; a stream
// that comes earlier is refused as unavailable, and its peer dials again.

import { Server, ServerCredentials, type ServerDuplexStream, status } from '@grpc/grpc-js';
import type { Clock } from '../core/clock.ts';
import { FairTurns, type Turns } from '../core/turns.ts';
import type { Shard } from '../shard/shard.ts';
import type { Log } from '../telemetry/log.ts';
import type { Tracing } from '../telemetry/spans.ts';
import type { FrontMessage__Output } from './gen/grantd/v1/FrontMessage.ts';
import type { ShardMessage } from './gen/grantd/v1/ShardMessage.ts';
import { isConsoleCertificate } from './peer-certificate.ts';
import { PeerStream } from './peer-stream.ts';
import { SERVER_OPTIONS, shardService } from './protocol.ts';
import type { AcceptStream, ServerStream } from './transport.ts';

/** What a close waits for answers under way before it cuts the connections. */
const CLOSE_MS_MAX = 2000;

export interface ShardServer {
  /** host:port, with the port that was bound. */
  readonly address: string;
  /** Takes a stream of this very process, which may be a console's. */
  readonly accept: AcceptStream;
  /** Answers what is under way for up to 2 s, then cuts. Idempotent. */
  close(): Promise<void>;
}

export interface ShardServerOptions {
  /** host:port; port 0 takes a free one. */
  readonly address: string;
  readonly credentials?: ServerCredentials;
  /** With credentials: whose certificates are a console's, by a DNS name or the common name. */
  readonly consoleNames?: readonly string[] | undefined;
  readonly version?: string;
}

/** Rejects where the address cannot be bound. */
export async function listenShardServer(
  dependencies: {
    readonly shard: () => Shard | undefined;
    readonly clock: Clock;
    /** Shared with whatever else works on this event loop. Undefined: nothing else does. */
    readonly turns?: Turns | undefined;
    readonly log: Log;
    readonly tracing?: Tracing | undefined;
  },
  options: ShardServerOptions,
): Promise<ShardServer> {
  const { clock, log, tracing, turns = new FairTurns(clock) } = dependencies;
  const server = new Server(SERVER_OPTIONS);
  const streams = new Set<PeerStream>();
  let closing: Promise<void> | undefined;

  function accept(stream: ServerStream, consoleAllowed: boolean): boolean {
    const shard = dependencies.shard();
    if (shard === undefined || closing !== undefined) return false;
    const { version = '' } = options;
    const peer = new PeerStream(stream, { shard, clock, turns, log, version, consoleAllowed, tracing }, () => {
      streams.delete(peer);
    });
    streams.add(peer);
    return true;
  }

  server.addService(shardService, {
    Exchange(call: ServerDuplexStream<FrontMessage__Output, ShardMessage>) {
      // Only a connection that TLS has verified shows a certificate here.
      const { sslPeerCertificate } = call.getAuthContext();
      const consoleAllowed =
        options.credentials === undefined || isConsoleCertificate(sslPeerCertificate, options.consoleNames);
      if (accept(call, consoleAllowed)) return;
      const details = 'The shard is not up.';
      call.emit('error', Object.assign(new Error(details), { code: status.UNAVAILABLE, details }));
    },
  });

  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(options.address, options.credentials ?? ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  const host = options.address.slice(0, options.address.lastIndexOf(':'));

  async function close(): Promise<void> {
    for (const stream of streams) stream.finish();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        server.forceShutdown();
        resolve();
      }, CLOSE_MS_MAX);
      server.tryShutdown(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  return {
    address: `${host}:${port}`,
    accept: (stream) => accept(stream, true),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}
