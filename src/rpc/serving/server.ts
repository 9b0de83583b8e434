// The gRPC server of a shard. It listens before the shard is up, because the shard publishes the bound address. It
// refuses an earlier stream as unavailable, and the peer dials again.

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Http2Session, ServerHttp2Stream } from 'node:http2';
import { Server, ServerCredentials, type ServerDuplexStream, status } from '@grpc/grpc-js';
import type { ReceivedFrontMessage, ShardMessage } from '../messages.ts';
import { FLOW_CONTROL_WINDOW_BYTES, SERVER_OPTIONS, shardService } from '../protocol.ts';
import { EVERY_PROOF, NO_PROOF, type PeerNames, proofOf } from '../transport/peer-certificate.ts';
import type { AcceptStream } from '../transport/transport.ts';
import { HELLO_MS_MAX, watchPeerConnections } from './peer-connections.ts';
import { createStreamHost, type StreamHostDependencies } from './stream-host.ts';

/** How long a close waits for replies in flight before it cuts the connections. */
const CLOSE_MS_MAX = 2000;

/** Published for each stream at an HTTP/2 server of this process (https://nodejs.org/api/diagnostics_channel.html). */
const STREAM_CREATED = 'http2.server.stream.created';
const widened = new WeakSet<Http2Session>();

/**
 * Unlike its client, gRPC's server has no option for the windows of its connections. With Node's 64 KiB, a long message
 * would arrive one piece per turn, with every check behind it waiting.
 */
function widenWindows(message: unknown): void {
  const session = (message as { readonly stream: ServerHttp2Stream }).stream.session;
  if (session === undefined || widened.has(session)) return;
  widened.add(session);
  session.settings({ initialWindowSize: FLOW_CONTROL_WINDOW_BYTES });
  session.setLocalWindowSize(FLOW_CONTROL_WINDOW_BYTES);
}

export interface ShardServer {
  /** host:port, with the bound port. */
  readonly address: string;
  /** Accepts a stream of this very process, which may be anyone's. */
  readonly accept: AcceptStream;
  /** Replies to what is in flight for up to 2 s, then cuts the connections. Idempotent. */
  close(): Promise<void>;
}

export interface ShardServerOptions {
  /** host:port; port 0 takes a free one. */
  readonly address: string;
  readonly credentials?: ServerCredentials | undefined;
  /** With credentials: DNS names whose certificates are those of a console or a shard. */
  readonly peerNames?: PeerNames | undefined;
  /** Without credentials: whether a peer is a console or a shard because it says so. Otherwise no peer is. */
  readonly unprovenPeers?: boolean | undefined;
  readonly version?: string;
  readonly connectionsMax?: number;
}

/** Rejects if the address cannot be bound. */
export async function listenShardServer(
  dependencies: StreamHostDependencies,
  options: ShardServerOptions,
): Promise<ShardServer> {
  const { credentials, peerNames, unprovenPeers = false, version } = options;
  const unproven = unprovenPeers ? EVERY_PROOF : NO_PROOF;
  // A connection is idle once its last call has ended.
  const server = new Server({ ...SERVER_OPTIONS, 'grpc.max_connection_idle_ms': HELLO_MS_MAX });
  const streams = createStreamHost(dependencies, { version });
  let closing: Promise<void> | undefined;

  server.addService(shardService, {
    Exchange(call: ServerDuplexStream<ReceivedFrontMessage, ShardMessage>) {
      // Only a connection that TLS has verified has a certificate here.
      const { sslPeerCertificate } = call.getAuthContext();
      const proof = credentials === undefined ? unproven : proofOf(sslPeerCertificate, peerNames);
      const peer = call.getPeer();
      if (streams.acceptPeer(call, proof, () => connections.heard(peer))) return;
      const details = 'The shard is not up.';
      call.emit('error', Object.assign(new Error(details), { code: status.UNAVAILABLE, details }));
    },
  });

  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(options.address, credentials ?? ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  const connections = watchPeerConnections(dependencies, { port, connectionsMax: options.connectionsMax });
  subscribe(STREAM_CREATED, widenWindows);
  const host = options.address.slice(0, options.address.lastIndexOf(':'));

  async function close(): Promise<void> {
    streams.finish();
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
    unsubscribe(STREAM_CREATED, widenWindows);
    connections.close();
  }

  return {
    address: `${host}:${port}`,
    accept: streams.accept,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}
