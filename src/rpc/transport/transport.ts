// The port of the transport between fronts and shards: one bidirectional stream of messages, as either end sees it.
// gRPC is one transport; a simulated network is another. It keeps: messages arrive in order, each once or not at all;
// after its end a stream reports nothing more that counts.

import type { FrontMessage, FrontMessage__Output } from '../gen/grantd/v1/FrontMessage.ts';
import type { ShardMessage, ShardMessage__Output } from '../gen/grantd/v1/ShardMessage.ts';

/** What the front's end of a stream reports. None is called before the stream has been returned to its opener. */
export interface ClientStreamHandlers {
  onMessage(message: ShardMessage__Output): void;
  /** `write` has returned false before, and may be called again. */
  onDrain(): void;
  /** The stream could not be opened, or broke, or was ended by the shard with an error. */
  onError(message: string): void;
  /** The shard ended the stream in order. */
  onEnd(): void;
}

/** The front's end of a stream. */
export interface ClientStream {
  /** False: the write buffer is full; wait for `onDrain`. Messages written before the connection stands wait for it. */
  write(message: FrontMessage): boolean;
  /** Gives the stream up together with its connection. What is still reported of it does not count. */
  cancel(): void;
}

/** Opens a stream to `address` (host:port) over a new connection, so that whatever ailed an old one stays behind. */
export type OpenStream = (address: string, handlers: ClientStreamHandlers) => ClientStream;

/** The error that a shard ends a stream with: a gRPC status and its text. */
export type StreamError = Error & { readonly code: number; readonly details: string };

/** The shard's end of a stream: what it uses of gRPC's ServerDuplexStream. */
export interface ServerStream {
  on(event: 'data', listener: (message: FrontMessage__Output) => void): unknown;
  /** `end`: the peer has ended its half. */
  on(event: 'end' | 'cancelled' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  /**
   * Calls `onSent` later, once the peer's flow control has let the message go; perhaps never where the stream ends
   * before.
   */
  write(message: ShardMessage, onSent: () => void): unknown;
  /** Ends the stream once everything written has been sent. */
  end(): unknown;
  /** Stops and starts the `data` events. What the peer sends meanwhile fills its own write buffer. */
  pause(): unknown;
  resume(): unknown;
  /** Ends the stream with a status (https://grpc.github.io/grpc/node/grpc-ServerDuplexStream.html). */
  emit(event: 'error', error: StreamError): unknown;
  /** Where the peer is, for the log. */
  getPeer(): string;
}

/** Takes the shard's end of a new stream. False: the shard is not up, and the stream is refused. */
export type AcceptStream = (stream: ServerStream) => boolean;
