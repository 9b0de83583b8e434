// Streams between a front and the shards of its own process. Messages need no network but still cross as bytes, so
// neither end holds anything that the other may change. Invariants, as the port promises: messages arrive in order and
// never within the call that sends them; nothing is reported after the end.

import type { FrontMessage, ReceivedFrontMessage } from '../messages.ts';
import { decodeFrontMessage, decodeShardMessage, encodeFrontMessage, encodeShardMessage } from '../protocol.ts';
import type {
  AcceptStream,
  ClientStream,
  ClientStreamHandlers,
  OpenStream,
  ServerStream,
  StreamError,
} from './transport.ts';

/** Bytes that may wait for a shard that reads nothing; above this, its front has to wait. */
const WAITING_BYTES_MAX = 1024 * 1024;

type ServerEvent = 'data' | 'end' | 'cancelled' | 'close' | 'error';

class DirectStream implements ClientStream {
  readonly #handlers: ClientStreamHandlers;
  readonly #listeners = new Map<ServerEvent, (message?: ReceivedFrontMessage) => void>();
  /** In flight to the shard. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #paused = false;
  #full = false;
  #ended = false;
  #accepted = false;

  constructor(handlers: ClientStreamHandlers) {
    this.#handlers = handlers;
  }

  open(accept: AcceptStream | undefined): void {
    queueMicrotask(() => {
      if (this.#ended) return;
      this.#accepted = accept?.(this.#serverStream()) === true;
      if (this.#accepted) this.#deliver();
      else this.#fail('The shard is not up.');
    });
  }

  // ---- the front's end ----

  write(message: FrontMessage): boolean {
    if (this.#ended) return false;
    const bytes = encodeFrontMessage(message);
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#waiting.length === 1) queueMicrotask(() => this.#deliver());
    // Only `onDrain` ends a wait: a front that waits for it would never hear of one that a short message ended.
    if (this.#waitingBytes > WAITING_BYTES_MAX) this.#full = true;
    return !this.#full;
  }

  cancel(): void {
    if (this.#ended) return;
    this.#ended = true;
    queueMicrotask(() => {
      this.#emit('cancelled');
      this.#emit('close');
    });
  }

  #fail(message: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#handlers.onError(message);
  }

  // ---- the shard's end ----

  #deliver(): void {
    if (!this.#accepted) return;
    while (!this.#paused && !this.#ended) {
      const bytes = this.#waiting.shift();
      if (bytes === undefined) break;
      this.#waitingBytes -= bytes.length;
      this.#emit('data', decodeFrontMessage(bytes));
    }
    if (this.#full && this.#waitingBytes === 0 && !this.#ended) {
      this.#full = false;
      this.#handlers.onDrain();
    }
  }

  #emit(event: ServerEvent, message?: ReceivedFrontMessage): void {
    this.#listeners.get(event)?.(message);
  }

  #serverStream(): ServerStream {
    return {
      on: (event: ServerEvent, listener: (argument: never) => void) => {
        this.#listeners.set(event, listener as (message?: ReceivedFrontMessage) => void);
      },
      write: (message, onSent) => {
        const bytes = encodeShardMessage(message);
        queueMicrotask(() => {
          if (this.#ended) return;
          this.#handlers.onMessage(decodeShardMessage(bytes));
          onSent();
        });
      },
      end: () => {
        queueMicrotask(() => {
          if (this.#ended) return;
          this.#ended = true;
          this.#handlers.onEnd();
        });
      },
      pause: () => {
        this.#paused = true;
      },
      resume: () => {
        this.#paused = false;
        queueMicrotask(() => this.#deliver());
      },
      emit: (_event: 'error', error: StreamError) => {
        queueMicrotask(() => this.#fail(error.details));
      },
      getPeer: () => 'this process',
    };
  }
}

/** `shards`: by the address under which a front finds them. */
export function createDirectTransport(shards: ReadonlyMap<string, AcceptStream>): OpenStream {
  return (address, handlers) => {
    const stream = new DirectStream(handlers);
    stream.open(shards.get(address));
    return stream;
  };
}
