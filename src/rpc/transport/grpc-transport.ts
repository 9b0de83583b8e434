// Streams to shards over gRPC, as a front opens them. Invariant: each stream has a channel, and so a connection, of its
// own, which is closed with it.

import type { Socket } from 'node:net';
import { type ChannelCredentials, credentials as grpcCredentials } from '@grpc/grpc-js';
import type { ReceivedShardMessage } from '../messages.ts';
import { CLIENT_OPTIONS, IN_FLIGHT_MAX, ShardClient } from '../protocol.ts';
import type { OpenStream } from './transport.ts';

/**
 * Parts of gRPC's messages on failed connections that vary or say nothing: times, and a final note that is usually
 * empty.
 */
const VARIABLE_PARTS = / \(\d{4}-\d\d-\d\dT[^)]*\)|[. ]+Resolution note: *$/g;

export interface GrpcTransportOptions {
  /**
   * Called at every dial, so a changed certificate is used from the next connection on. Its result is for that dial
   * alone. Default: no TLS.
   */
  readonly credentials?: ((address: string) => ChannelCredentials) | undefined;
}

/**
 * Ends a channel's connection with the channel. gRPC by itself lets one that is not established yet live on, and dials
 * once more a second after one that failed, although the channel was closed: a shard that comes back would get a
 * connection, and a TLS handshake, for each dial of the last second.
 */
class ChannelConnection {
  #socket: Socket | undefined;
  #isClosed = false;

  /** Credentials by which only this channel connects. They are changed. */
  bind(credentials: ChannelCredentials): ChannelCredentials {
    const create = credentials._createSecureConnector.bind(credentials);
    credentials._createSecureConnector = (...parameters) => {
      const connector = create(...parameters);
      return {
        waitForReady: () => (this.#isClosed ? Promise.reject(new Error('It is closed.')) : connector.waitForReady()),
        connect: (socket) => {
          this.#socket = socket;
          // Closed while the socket connected: TLS finds it destroyed.
          if (this.#isClosed) socket.destroy();
          return connector.connect(socket);
        },
        getCallCredentials: () => connector.getCallCredentials(),
        destroy: () => connector.destroy(),
      };
    };
    return credentials;
  }

  /** Idempotent. `isEstablished`: gRPC closes the socket, after what it still has to say. */
  close(isEstablished: boolean): void {
    this.#isClosed = true;
    if (!isEstablished) this.#socket?.destroy();
  }
}

export function createGrpcTransport(options: GrpcTransportOptions = {}): OpenStream {
  const credentialsOf = options.credentials ?? (() => grpcCredentials.createInsecure());
  return (address, handlers) => {
    // Always resolved by DNS, even if the host looks like another scheme.
    const connection = new ChannelConnection();
    const client = new ShardClient(`dns:${address}`, connection.bind(credentialsOf(address)), CLIENT_OPTIONS);
    const stream = client.exchange();
    let isEstablished = false;
    stream.on('data', (message: ReceivedShardMessage) => {
      isEstablished = true;
      handlers.onMessage(message);
    });
    // The listener stays after a cancellation, which also ends in an error event.
    stream.on('error', (error: Error) => handlers.onError(error.message.replaceAll(VARIABLE_PARTS, '')));
    stream.on('end', () => handlers.onEnd());
    let inFlight = 0;
    const onSent = (error?: Error | null): void => {
      inFlight -= 1;
      if (inFlight === IN_FLIGHT_MAX - 1 && !error) handlers.onDrain();
    };
    return {
      write: (message) => {
        inFlight += 1;
        stream.write(message, onSent);
        return inFlight < IN_FLIGHT_MAX;
      },
      cancel: () => {
        stream.cancel();
        client.close();
        connection.close(isEstablished);
      },
    };
  };
}
