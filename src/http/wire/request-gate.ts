// The gate between a connection and the parser of Node's server, which would emit every request that has arrived. The
// gate feeds it pieces that end where a request may end, and nothing while a request is being answered or must not be
// read. Later bytes stay in the socket, unread. Invariant: a connection has one request in flight; the next one begins
// only when the client has taken the response before it, and in the client's turn. The gate only chooses where to cut;
// the parser alone decides what the bytes mean. If a piece contains more than one request after all, they are served
// one after another.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { assert } from '../../core/assert.ts';
import type { Turns } from '../../core/async/turns.ts';
import type { Connection, Gate } from './connection.ts';

/** The shortest request has 18 bytes, so a piece contains at most the end of one head and the whole of another. */
const HEAD_PIECE_MIN = 16;

/** What a piece of a body costs besides feeding it: its read from the socket, and its buffer. */
const PIECE_MS = 0.1;

/** For a body of unknown length: up to about 50 requests may follow its end in one piece. */
const BODY_PIECE = 1024;

const [LF, CR] = [0x0a, 0x0d];

/** The end of the first piece from `start` on: after an empty line, which ends each head, or after all bytes. */
function endOfHeadPiece(bytes: Buffer, start: number): number {
  for (let at = start; at < bytes.length; at += 1) {
    if (bytes[at] !== LF) continue;
    const end = bytes[at + 1] === LF ? at + 2 : bytes[at + 1] === CR && bytes[at + 2] === LF ? at + 3 : -1;
    if (end - start >= HEAD_PIECE_MIN) return end;
  }
  return bytes.length;
}

export interface RequestGateOptions {
  /** Hands the socket over to Node's server. */
  readonly attach: (socket: Socket) => void;
  /** Reports how many bytes of a connection wait in memory. */
  readonly hold: (connection: Connection, bytes: number) => void;
  readonly nowMs: () => number;
  /**
   * A head, and each piece of an unwanted body, is read when the turn of its client comes. So is a wanted body once
   * this turn of the event loop is used up.
   */
  readonly turns: Turns;
}

export class RequestGate implements Gate {
  readonly #connection: Connection;
  readonly #socket: Socket;
  readonly #options: RequestGateOptions;
  readonly #feed: (bytes: Buffer) => void;
  /** Requests whose responses the client has not taken yet: at most one, and those that wait. */
  #open = 0;
  readonly #waiting: (() => void)[] = [];
  #newest: IncomingMessage | undefined;
  #bodyWanted = false;
  /** The body of the request that is being answered is read only to be discarded. */
  #bodyDiscarded = false;
  /** Announced bytes of the body that are still to be read; 0: unknown. */
  #bodyBytesLeft = 0;
  /** Fed since the newest request was complete: the head of the next one, which the parser keeps. */
  #headBytes = 0;
  /** Bytes after the piece that is being fed. */
  #restBytes = 0;
  #waitsForTurn = false;
  #inTurn = false;
  /** Set once nothing more is read: bytes that may still arrive. */
  #discardBytesLeft: number | undefined;
  /** Bytes that have arrived and may be fed at once, if it is this connection's turn. */
  #arrived: Buffer | undefined;

  constructor(connection: Connection, options: RequestGateOptions) {
    const { socket } = connection;
    this.#connection = connection;
    this.#socket = socket;
    this.#options = options;
    options.attach(socket);
    const [listener, ...others] = socket.listeners('data');
    assert(listener !== undefined && others.length === 0, 'only Node’s server listens to the data of a socket');
    this.#feed = (bytes) => void Reflect.apply(listener, socket, [bytes]);
    socket.removeAllListeners('data');
    socket.on('data', this.#onData);
  }

  /** Takes a request that the parser has emitted: calls `serve` now, or once those before it are done. */
  admit(request: IncomingMessage, response: ServerResponse, serve: () => void): void {
    this.#open += 1;
    this.#newest = request;
    this.#bodyWanted = false;
    this.#bodyDiscarded = false;
    this.#bodyBytesLeft = Number(request.headers['content-length'] ?? 0);
    this.#headBytes = 0;
    this.#connection.lastResponse = response;
    this.#connection.busy = true;
    response.once('close', this.#onClosed);
    if (this.#open === 1) serve();
    else this.#waiting.push(serve);
  }

  /** From now on the body of the request that is being answered is read. */
  readBody(): void {
    this.#bodyWanted = true;
    this.#socket.resume();
  }

  /** From now on it is read only to be discarded, piece by piece. */
  discardBody(): void {
    this.#bodyWanted = false;
    this.#bodyDiscarded = true;
    this.#continue();
  }

  /** Feeds the part of an unwanted body that has arrived, to find out whether it is complete. */
  skipBody(): void {
    this.#bodyDiscarded = true;
    // Emits held bytes at once. If the parser itself is the caller, the rest is not held, and nothing is emitted.
    if (this.#socket.readableLength > 0) this.#inOneTurn(() => this.#socket.read());
  }

  /** Whether bytes have arrived after the request that is being answered, as far as its end is known. */
  get hasMore(): boolean {
    if (this.#waiting.length > 0) return true;
    const heldBytes = this.#restBytes + this.#socket.readableLength;
    if (this.#newest?.complete !== false) return heldBytes > 0;
    return this.#newest.headers['transfer-encoding'] === undefined && heldBytes > this.#bodyBytesLeft;
  }

  discard(bytesMax: number): void {
    this.#discardBytesLeft = bytesMax;
    this.#options.hold(this.#connection, 0);
    this.#socket.resume();
  }

  readonly #onClosed = (): void => {
    this.#open -= 1;
    this.#connection.activeAtMs = this.#options.nowMs();
    this.#waiting.shift()?.();
    if (this.#open > 0) return;
    this.#connection.busy = false;
    this.#bodyWanted = false;
    this.#continue();
  };

  #continue(): void {
    if (this.#socket.readableLength === 0) this.#socket.resume();
    else this.#askForTurn();
  }

  get #isInBody(): boolean {
    return this.#newest?.complete === false;
  }

  /**
   * Whether the parser may be fed: with a head, and with the rest of an unwanted body, only in turn; with a wanted body
   * also while this turn of the event loop has time. Otherwise one turn could read whole bodies of many connections.
   */
  get #mayFeed(): boolean {
    const { turns, nowMs } = this.#options;
    if (this.#isInBody && this.#bodyWanted) return this.#inTurn || turns.hasTime(nowMs());
    return this.#inTurn && this.#takesTurns;
  }

  /** Whether bytes that arrive are read in turns. A paused request resumes the socket by itself. */
  get #takesTurns(): boolean {
    if (this.#open === 0) return true;
    return this.#isInBody && (this.#bodyDiscarded || (this.#bodyWanted && this.#newest?.isPaused() === false));
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.#discardBytesLeft !== undefined) {
      this.#discardBytesLeft -= bytes.length;
      if (this.#discardBytesLeft < 0) this.#socket.destroy();
      return;
    }
    if (this.#mayFeed || this.#isOver || !this.#takesTurns) {
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
    this.#options.turns.run(this.#connection.turnKey, this.#takeTurn, this.#isInBody ? PIECE_MS : 0);
  }

  /** Begins one of the requests that have arrived, or discards the part of an unwanted body that has arrived. */
  readonly #takeTurn = (): boolean => {
    this.#waitsForTurn = false;
    const bytes = this.#arrived;
    this.#arrived = undefined;
    this.#inOneTurn(() => {
      if (bytes !== undefined) this.#feedPieces(bytes);
      else if (this.#socket.readableLength > 0) this.#socket.read();
    });
    if (this.#socket.readableLength === 0) {
      this.#socket.resume();
      return false;
    }
    // The socket hands over one buffer at a time.
    const more = this.#takesTurns && !this.#waitsForTurn && !this.#socket.destroyed;
    if (more) this.#waitsForTurn = true;
    return more;
  };

  #inOneTurn(feed: () => void): void {
    const before = this.#inTurn;
    this.#inTurn = true;
    feed();
    this.#inTurn = before;
  }

  /** Nothing is read after a broken request, or after a response with `Connection: close` (RFC 9112 section 9.6). */
  get #isOver(): boolean {
    return this.#connection.failure !== undefined || this.#socket.writableEnded || this.#socket.destroyed;
  }

  #feedPieces(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length && !this.#isOver) {
      if (!this.#mayFeed) {
        this.#hold(bytes, at);
        if (this.#takesTurns) this.#askForTurn();
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
      // If a body is not taken as fast as it arrives, Node pauses the socket.
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
