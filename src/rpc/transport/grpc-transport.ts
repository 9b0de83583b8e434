// Streams to shards over gRPC, as a front opens them. Invariant: each stream has a channel, and so a connection, of its
// own, which is closed with it.

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
  /** Read at every dial, so a changed certificate is used from the next connection on. Default: no TLS. */
  readonly credentials?: ((address: string) => ChannelCredentials) | undefined;
}

export function createGrpcTransport(options: GrpcTransportOptions = {}): OpenStream {
  const credentialsOf = options.credentials ?? (() => grpcCredentials.createInsecure());
  return (address, handlers) => {
    // Always resolved by DNS, even if the host looks like another scheme.
    const client = new ShardClient(`dns:${address}`, credentialsOf(address), CLIENT_OPTIONS);
    const stream = client.exchange();
    stream.on('data', (message: ReceivedShardMessage) => handlers.onMessage(message));
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
      },
    };
  };
}
