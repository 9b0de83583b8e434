// What stands between a connection and the parser of Node's server, which would emit every request that has come: the
// bytes are given to it in pieces that end where a request may, and none while a request is being answered, or is not
// to be read. What comes behind stays in the socket, which is not read. So a connection has one request in flight, and
// it begins only when the client has taken the answer to the one before, when it is the client's turn. The gate only
// chooses where to cut: what the bytes mean, the parser alone decides. Should a piece make more than one request
// nevertheless, they are served one after another.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { assert } from '../../core/assert.ts';
import type { Turns } from '../../core/async/turns.ts';
import type { Connection, Gate } from './connection.ts';

/** The shortest request has 18 bytes, so that a piece has at most the end of one head and the whole of another. */
const HEAD_PIECE_MIN = 16;

/** Of a body whose length is not known beforehand: behind its end there may be some more requests, some 50 at most. */
const BODY_PIECE = 1024;

const [LF, CR] = [0x0a, 0x0d];

/** The end of the first piece from `start` on: behind an empty line, as each head ends, or of all bytes. */
function endOfHeadPiece(bytes: Buffer, start: number): number {
  for (let at = start; at < bytes.length; at += 1) {
    if (bytes[at] !== LF) continue;
    const end = bytes[at + 1] === LF ? at + 2 : bytes[at + 1] === CR && bytes[at + 2] === LF ? at + 3 : -1;
    if (end - start >= HEAD_PIECE_MIN) return end;
  }
  return bytes.length;
}

export interface RequestGateOptions {
  /** Lets Node's server have the socket. */
  readonly attach: (socket: Socket) => void;
  /** Told how many bytes of a connection are in memory, waiting. */
  readonly hold: (connection: Connection, bytes: number) => void;
  readonly nowMs: () => number;
  /** A head is read when the turn of its client comes. */
  readonly turns: Turns;
}

export class RequestGate implements Gate {
  readonly #connection: Connection;
  readonly #socket: Socket;
  readonly #options: RequestGateOptions;
  /** Gives bytes to the parser. */
  readonly #feed: (bytes: Buffer) => void;
  /** Requests whose answers the client has not taken yet: at most one, and those that wait. */
  #open = 0;
  readonly #waiting: (() => void)[] = [];
  #newest: IncomingMessage | undefined;
  #bodyWanted = false;
  /** Of the body that is being read, as announced; 0: not known. */
  #bodyBytesLeft = 0;
  /** Given to the parser since the newest request was whole: the head of the next one, which the parser keeps. */
  #headBytes = 0;
  /** Behind the piece that the parser is being given. */
  #restBytes = 0;
  #waitsForTurn = false;
  #inTurn = false;
  /** What has come and may be begun at once, if it is this connection's turn. */
  #arrived: Buffer | undefined;

  constructor(connection: Connection, options: RequestGateOptions) {
    const { socket } = connection;
    this.#connection = connection;
    this.#socket = socket;
    this.#options = options;
    options.attach(socket);
    const [listener, ...others] = socket.listeners('data');
    assert(
      listener !== undefined && others.length === 0,
      'Node’s server listens to the data of a socket, and nobody else does',
    );
    this.#feed = (bytes) => void Reflect.apply(listener, socket, [bytes]);
    socket.removeAllListeners('data');
    socket.on('data', this.#onData);
  }

  /** A request that the parser has emitted: `serve` is called now, or when those before it are done. */
  admit(request: IncomingMessage, response: ServerResponse, serve: () => void): void {
    this.#open += 1;
    this.#newest = request;
    this.#bodyWanted = false;
    this.#bodyBytesLeft = Number(request.headers['content-length'] ?? 0);
    this.#headBytes = 0;
    this.#connection.lastResponse = response;
    this.#connection.busy = true;
    response.once('close', this.#onClosed);
    if (this.#open === 1) serve();
    else this.#waiting.push(serve);
  }

  /** The body of the request that is being answered is read, or thrown away, from now on. */
  readBody(): void {
    this.#bodyWanted = true;
    this.#socket.resume();
  }

  /** Gives the parser what has come of a body that nobody wants, to find out whether that is all of it. */
  skipBody(): void {
    this.#bodyWanted = true;
    // Emits what is held at once. Where this is called by the parser itself, the rest is not held, and nothing is
    // emitted.
    if (this.#socket.readableLength > 0) this.#socket.read();
  }

  /**
   * Whether bytes have come behind those of the request that is being answered, as far as it is known where it ends.
   */
  get hasMore(): boolean {
    if (this.#waiting.length > 0) return true;
    const heldBytes = this.#restBytes + this.#socket.readableLength;
    if (this.#newest?.complete !== false) return heldBytes > 0;
    return this.#newest.headers['transfer-encoding'] === undefined && heldBytes > this.#bodyBytesLeft;
  }

  readonly #onClosed = (): void => {
    this.#open -= 1;
    this.#connection.activeAtMs = this.#options.nowMs();
    this.#waiting.shift()?.();
    if (this.#open > 0) return;
    this.#connection.busy = false;
    // The rest of a body that nobody wanted takes no turn.
    if (this.#socket.readableLength === 0 || this.#isInBody) this.#socket.resume();
    else this.#askForTurn();
  };

  get #isInBody(): boolean {
    return this.#newest?.complete === false;
  }

  /**
   * Whether the parser may be given more: of a body that is wanted, or that is all that is left of its request; of a
   * head, in turn.
   */
  get #mayFeed(): boolean {
    if (this.#isInBody) return this.#bodyWanted || this.#open === 0;
    return this.#open === 0 && this.#inTurn;
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.#mayFeed || this.#isOver || this.#open > 0) {
      this.#feedPieces(bytes);
      return;
    }
    this.#arrived = bytes;
    this.#askForTurn();
    if (this.#arrived === undefined) return;
    this.#arrived = undefined;
    this.#hold(bytes, 0);
  };

  #askForTurn(): void {
    if (this.#waitsForTurn) return;
    this.#waitsForTurn = true;
    this.#options.turns.run(this.#connection.turnKey, this.#takeTurn);
  }

  /** Begins one request of those that have come. */
  readonly #takeTurn = (): boolean => {
    this.#waitsForTurn = false;
    const bytes = this.#arrived;
    this.#arrived = undefined;
    this.#inTurn = true;
    if (bytes !== undefined) this.#feedPieces(bytes);
    else if (this.#socket.readableLength > 0) this.#socket.read();
    this.#inTurn = false;
    if (this.#socket.readableLength === 0) this.#socket.resume();
    return false;
  };

  /** Nothing behind a broken request or an answer that says close is looked at (RFC 9112 section 9.6). */
  get #isOver(): boolean {
    return this.#connection.failure !== undefined || this.#socket.writableEnded || this.#socket.destroyed;
  }

  #feedPieces(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length && !this.#isOver) {
      if (!this.#mayFeed) {
        this.#hold(bytes, at);
        if (this.#open === 0) this.#askForTurn();
        return;
      }
      const inBody = this.#isInBody;
      const end = inBody
        ? at + (this.#bodyBytesLeft > 0 ? this.#bodyBytesLeft : BODY_PIECE)
        : endOfHeadPiece(bytes, at);
      const piece = bytes.subarray(at, end);
      at += piece.length;
      this.#restBytes = bytes.length - at;
      if (inBody) this.#bodyBytesLeft -= piece.length;
      else this.#headBytes += piece.length;
      this.#feed(piece);
      this.#restBytes = 0;
      // A body that is not taken as fast as it comes makes Node pause the socket.
      if (at < bytes.length && this.#bodyWanted && this.#isInBody && this.#socket.isPaused()) {
        this.#hold(bytes, at);
        return;
      }
    }
    this.#options.hold(this.#connection, this.#headBytes);
  }

  #hold(bytes: Buffer, start: number): void {
    this.#socket.pause();
    this.#socket.unshift(bytes.subarray(start));
    this.#options.hold(this.#connection, this.#socket.readableLength);
  }
}
