// The port of the transport between a shard and its peers: one bidirectional stream of messages, as seen from either
// end. gRPC is one transport; a simulated network is another. Invariants: messages arrive in order, each once or not at
// all; after its end, a stream reports nothing more that counts.

import type { FrontMessage, ReceivedFrontMessage, ReceivedShardMessage, ShardMessage } from '../messages.ts';

/** Events at the front's end of a stream. None comes before the stream has been returned to its opener. */
export interface ClientStreamHandlers {
  onMessage(message: ReceivedShardMessage): void;
  /** `write` returned false before, and may be called again. */
  onDrain(): void;
  /** The stream could not be opened, or broke, or the shard ended it with an error. */
  onError(message: string): void;
  /** The shard ended the stream without an error. */
  onEnd(): void;
}

/** The front's end of a stream. */
export interface ClientStream {
  /** False: the write buffer is full; wait for `onDrain`. Messages written before the connection is up wait for it. */
  write(message: FrontMessage): boolean;
  /** Gives up the stream and its connection. What it still reports does not count. */
  cancel(): void;
}

/** Opens a stream to `address` (host:port) over a new connection, so that faults of an old connection stay behind. */
export type OpenStream = (address: string, handlers: ClientStreamHandlers) => ClientStream;

/** The error with which a shard ends a stream: a gRPC status and its text. */
export type StreamError = Error & { readonly code: number; readonly details: string };

/** The shard's end of a stream: the part of gRPC's ServerDuplexStream that it uses. */
export interface ServerStream {
  on(event: 'data', listener: (message: ReceivedFrontMessage) => void): unknown;
  /** `end`: the peer has ended its half. */
  on(event: 'end' | 'cancelled' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  /**
   * Calls `onSent` later, once the peer's flow control has let the message go; perhaps never, if the stream ends
   * before.
   */
  write(message: ShardMessage, onSent: () => void): unknown;
  /** Ends the stream once everything written has been sent. */
  end(): unknown;
  /** Stops and starts the `data` events. What the peer sends in between fills its own write buffer. */
  pause(): unknown;
  resume(): unknown;
  /** Ends the stream with a status (https://grpc.github.io/grpc/node/grpc-ServerDuplexStream.html). */
  emit(event: 'error', error: StreamError): unknown;
  /** Address of the peer, for the log. */
  getPeer(): string;
}

/** Accepts the shard's end of a new stream. False: the shard is not up, and the stream is refused. */
export type AcceptStream = (stream: ServerStream) => boolean;
