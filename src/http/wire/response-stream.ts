// A response that stays open, on the socket of its connection: part after part, each written once the client has taken
// the previous one. Both wires write it alike. Invariant: at most one part waits in the socket, so that the sender of
// the parts knows what a slow client costs.

import type { Socket } from 'node:net';

/** Bytes that many responses may share: one chunk (RFC 9112 section 7.1), with the range of the data in it. */
export interface StreamPart {
  readonly chunk: Buffer;
  readonly start: number;
  readonly end: number;
}

/** How the sender of the parts learns about the client. */
export interface StreamListener {
  /** The client has taken the part that waited. */
  taken(): void;
  /** The connection has ended, or is about to end: nothing more can be sent. Not called after `end` or `cut`. */
  closed(): void;
}

export interface ResponseStream {
  /** False: the client has not taken it yet. Nothing more may be sent until `taken`. */
  send(part: StreamPart): boolean;
  /** Ends the response in order, and the connection. */
  end(): void;
  /** Ends the connection at once. */
  cut(): void;
}

const CRLF = '\r\n';

export function streamPart(text: string): StreamPart {
  const size = Buffer.byteLength(text).toString(16);
  const chunk = Buffer.from(`${size}${CRLF}${text}${CRLF}`);
  const start = size.length + CRLF.length;
  return { chunk, start, end: chunk.length - CRLF.length };
}

const LAST_CHUNK = `0${CRLF}${CRLF}`;

export class SocketStream implements ResponseStream {
  readonly #socket: Socket;
  /** Undefined once it has had its last call. */
  #listener: StreamListener | undefined;
  /** HTTP/1.0 has no chunks: the end of the connection ends the response. */
  readonly #chunked: boolean;
  readonly #onEnding: () => void;

  /** `onEnding`: the response is complete; the connection has to end once the client has taken it. */
  constructor(socket: Socket, chunked: boolean, listener: StreamListener, onEnding: () => void) {
    this.#socket = socket;
    this.#chunked = chunked;
    this.#listener = listener;
    this.#onEnding = onEnding;
  }

  send({ chunk, start, end }: StreamPart): boolean {
    const socket = this.#socket;
    if (socket.destroyed || socket.writableEnded) return false;
    socket.write(this.#chunked ? chunk : chunk.subarray(start, end));
    // The operating system takes nearly every part at once.
    if (socket.writableLength === 0) return true;
    // Called once everything before it has been written.
    socket.write('', (error) => {
      if (error === null || error === undefined) this.#listener?.taken();
    });
    return false;
  }

  end(): void {
    if (this.#listener === undefined) return;
    this.#listener = undefined;
    if (this.#chunked) this.#socket.write(LAST_CHUNK);
    this.#onEnding();
  }

  cut(): void {
    this.#listener = undefined;
    this.#socket.destroy();
  }

  /** The connection has ended. */
  closed(): void {
    const listener = this.#listener;
    this.#listener = undefined;
    listener?.closed();
  }
}
