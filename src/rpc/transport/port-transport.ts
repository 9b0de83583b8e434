// Streams between threads of one process: each has a MessageChannel of its own, which carries the bytes of the messages
// that gRPC would carry. Invariants, as the port promises: messages arrive in order, each once; nothing is reported
// within the call that sends it, nor after the end. The bytes that are on their way in one direction are bounded: the
// receiver says how much it has taken.

import type { MessagePort } from 'node:worker_threads';
import type { ReceivedFrontMessage } from '../messages.ts';
import {
  decodeFrontMessage,
  decodeShardMessage,
  encodeFrontMessage,
  encodeShardMessage,
  FLOW_CONTROL_WINDOW_BYTES,
} from '../protocol.ts';
import type { AcceptStream, ClientStream, ClientStreamHandlers, OpenStream, StreamError } from './transport.ts';

/** The receiver reports what it has taken after this many bytes, so that few messages carry nothing else. */
const TAKEN_BYTES = FLOW_CONTROL_WINDOW_BYTES / 4;

/** `error`: undefined if the stream ends in order. */
type PortMessage = Uint8Array | { readonly takenBytes: number } | { readonly end: { readonly error?: string } };

interface PipeHandlers {
  onBytes(bytes: Buffer): void;
  /** The other end has ended the stream, or has gone. */
  onEnd(error: string | undefined): void;
}

/** One end of a stream. */
class Pipe {
  readonly #port: MessagePort;
  readonly #handlers: PipeHandlers;
  #sentBytes = 0;
  #takenBytes = 0;
  /** Called, in order, once few enough bytes are on their way. */
  #onRoom: (() => void)[] = [];
  #received: Uint8Array[] = [];
  #paused = false;
  #ended = false;

  constructor(port: MessagePort, handlers: PipeHandlers) {
    this.#port = port;
    this.#handlers = handlers;
    port.on('message', (message: PortMessage) => this.#receive(message));
    port.once('close', () => this.#finish('The other thread has closed the stream.'));
  }

  get isFull(): boolean {
    return this.#sentBytes > FLOW_CONTROL_WINDOW_BYTES;
  }

  /** Calls `onRoom` later, once not too much is on its way. */
  send(bytes: Buffer, onRoom?: () => void): void {
    if (this.#ended) return;
    // A copy: of a view, the whole memory below it would be sent.
    this.#port.postMessage(new Uint8Array(bytes) satisfies PortMessage);
    this.#sentBytes += bytes.length;
    if (onRoom === undefined) return;
    this.#onRoom.push(onRoom);
    if (this.#onRoom.length === 1) queueMicrotask(() => this.#tellRoom());
  }

  /** Ends the stream at both ends; here, nothing is reported. What was sent before arrives before the end. */
  end(error?: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#port.postMessage({ end: error === undefined ? {} : { error } } satisfies PortMessage);
    this.#port.close();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    queueMicrotask(() => this.#deliver());
  }

  #receive(message: PortMessage): void {
    if (this.#ended) return;
    if (message instanceof Uint8Array) {
      this.#received.push(message);
      this.#deliver();
    } else if ('end' in message) {
      this.#finish(message.end.error);
    } else {
      this.#sentBytes -= message.takenBytes;
      this.#tellRoom();
    }
  }

  #deliver(): void {
    while (!this.#paused && !this.#ended) {
      const bytes = this.#received.shift();
      if (bytes === undefined) return;
      this.#takenBytes += bytes.length;
      if (this.#takenBytes >= TAKEN_BYTES) {
        this.#port.postMessage({ takenBytes: this.#takenBytes } satisfies PortMessage);
        this.#takenBytes = 0;
      }
      this.#handlers.onBytes(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
    }
  }

  #tellRoom(): void {
    while (!this.#ended && !this.isFull) {
      const onRoom = this.#onRoom.shift();
      if (onRoom === undefined) return;
      onRoom();
    }
  }

  #finish(error: string | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#port.close();
    this.#handlers.onEnd(error);
  }
}

// ---- the front's end ----

class PortStream implements ClientStream {
  readonly #pipe: Pipe;
  readonly #handlers: ClientStreamHandlers;
  #isFull = false;

  constructor(port: MessagePort, handlers: ClientStreamHandlers) {
    this.#handlers = handlers;
    this.#pipe = new Pipe(port, {
      onBytes: (bytes) => handlers.onMessage(decodeShardMessage(bytes)),
      onEnd: (error) => (error === undefined ? handlers.onEnd() : handlers.onError(error)),
    });
  }

  write(message: Parameters<ClientStream['write']>[0]): boolean {
    const bytes = encodeFrontMessage(message);
    this.#pipe.send(bytes, this.#onRoom);
    if (this.#pipe.isFull) this.#isFull = true;
    return !this.#isFull;
  }

  cancel(): void {
    this.#pipe.end();
  }

  readonly #onRoom = (): void => {
    if (!this.#isFull) return;
    this.#isFull = false;
    this.#handlers.onDrain();
  };
}

/** `send`: brings the port to the thread that accepts the streams to this address (`acceptPort`). */
export function createPortTransport(
  createChannel: () => { readonly port1: MessagePort; readonly port2: MessagePort },
  send: (address: string, port: MessagePort) => void,
): OpenStream {
  return (address, handlers) => {
    const { port1, port2 } = createChannel();
    const stream = new PortStream(port1, handlers);
    send(address, port2);
    return stream;
  };
}

// ---- the shard's end ----

/** Accepts a stream of another thread. `accept`: undefined if no shard is at its address. */
export function acceptPort(port: MessagePort, accept: AcceptStream | undefined, peer: string): void {
  let onData: (message: ReceivedFrontMessage) => void = () => {};
  const gone: (() => void)[] = [];
  const pipe = new Pipe(port, {
    onBytes: (bytes) => onData(decodeFrontMessage(bytes)),
    onEnd: () => {
      for (const listener of gone) listener();
    },
  });
  const accepted = accept?.({
    on(event: string, listener: (argument: never) => void) {
      if (event === 'data') onData = listener as (message: ReceivedFrontMessage) => void;
      // An end of the front's is the loss of the stream: it never ends only its half.
      else if (event === 'cancelled' || event === 'close') gone.push(listener as () => void);
    },
    write: (message, onSent) => pipe.send(encodeShardMessage(message), onSent),
    end: () => pipe.end(),
    pause: () => pipe.pause(),
    resume: () => pipe.resume(),
    emit: (_event: 'error', error: StreamError) => pipe.end(error.details),
    getPeer: () => peer,
  });
  if (accepted !== true) pipe.end('The shard is not up.');
}
