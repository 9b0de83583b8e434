// Streams to shards over gRPC, as a front opens them. It keeps: a stream has a channel and so a connection of its own,
// closed with it.

import { type ChannelCredentials, credentials as grpcCredentials } from '@grpc/grpc-js';
import type { ShardMessage__Output } from '../gen/grantd/v1/ShardMessage.ts';
import { CLIENT_OPTIONS, IN_FLIGHT_MAX, ShardClient } from '../protocol.ts';
import type { OpenStream } from './transport.ts';

/** gRPC's account of a failed connection: some of its texts carry the time, and end in a note that is mostly empty. */
const VARIABLE_PARTS = / \(\d{4}-\d\d-\d\dT[^)]*\)|[. ]+Resolution note: *$/g;

export interface GrpcTransportOptions {
  /** Asked at every dial, so that a changed certificate is used from the next connection on. Without it: no TLS. */
  readonly credentials?: ((address: string) => ChannelCredentials) | undefined;
}

export function createGrpcTransport(options: GrpcTransportOptions = {}): OpenStream {
  const credentialsOf = options.credentials ?? (() => grpcCredentials.createInsecure());
  return (address, handlers) => {
    // Resolved by DNS whatever the host looks like: no other scheme is ever meant.
    const client = new ShardClient(`dns:${address}`, credentialsOf(address), CLIENT_OPTIONS);
    const stream = client.exchange();
    stream.on('data', (message: ShardMessage__Output) => handlers.onMessage(message));
    // The listener stays after a cancellation, which ends in an error event too.
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
