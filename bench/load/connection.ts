// One keep-alive connection with at most one request in flight, as cheap as can be: the client shares the machine with
// what it measures. It reads nothing of HTTP but the status, the length and whether the server ends the connection with
// that answer, after which it opens another one; it takes anything unexpected for an error.

import { connect, type Socket } from 'node:net';

const HEAD_END = '\r\n\r\n';
const LENGTH_HEADER = '\r\ncontent-length:';
const CLOSE_HEADER = '\r\nconnection: close\r\n';
/** No body, and no length. */
const NO_CONTENT = 'http/1.1 204 ';

/** The body's length in bytes, of a head in lower case; the whole text is ASCII here. */
function contentLength(head: string): number {
  const start = head.indexOf(LENGTH_HEADER);
  if (head.startsWith(NO_CONTENT)) return 0;
  if (start < 0) throw new Error(`An answer without a length: ${head}`);
  return Number.parseInt(head.slice(start + LENGTH_HEADER.length), 10);
}

interface Handlers {
  /** Once, when it can be used. */
  readonly onOpen: (connection: Connection) => void;
  readonly onAnswer: (connection: Connection, status: number, body: string) => void;
  readonly onError: (error: Error) => void;
}

export class Connection {
  readonly #address: { readonly host: string; readonly port: number };
  readonly #handlers: Handlers;
  #socket: Socket;
  #received = '';
  /** Of the whole answer; −1 while its head is not there yet. */
  #length = -1;
  #bodyStart = 0;
  /** With this answer the server ends the connection. */
  #isLast = false;
  #sentBytes = 0;
  #receivedBytes = 0;
  /** Where it leads to; number of the request in flight, and when it was due: the client's own. */
  place = 0;
  request = 0;
  dueMs = 0;

  constructor(address: { readonly host: string; readonly port: number }, handlers: Handlers) {
    this.#address = address;
    this.#handlers = handlers;
    this.#socket = this.#open();
    this.#socket.once('connect', () => handlers.onOpen(this));
  }

  get sentBytes(): number {
    return this.#sentBytes + this.#socket.bytesWritten;
  }

  get receivedBytes(): number {
    return this.#receivedBytes + this.#socket.bytesRead;
  }

  send(request: string): void {
    this.#socket.write(request, 'latin1');
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** What is sent before it is open goes out then. */
  #open(): Socket {
    const { onError } = this.#handlers;
    const socket = connect({ ...this.#address, noDelay: true });
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => this.#take(text));
    socket.on('error', onError);
    socket.on('end', () => onError(new Error('The server ended a connection.')));
    return socket;
  }

  #openAnother(): void {
    this.#sentBytes = this.sentBytes;
    this.#receivedBytes = this.receivedBytes;
    this.#socket.removeAllListeners();
    this.#socket.destroy();
    this.#socket = this.#open();
  }

  #take(text: string): void {
    this.#received = this.#received === '' ? text : this.#received + text;
    if (this.#length < 0) {
      const headEnd = this.#received.indexOf(HEAD_END);
      if (headEnd < 0) return;
      const head = this.#received.slice(0, headEnd + 2).toLowerCase();
      this.#bodyStart = headEnd + HEAD_END.length;
      this.#length = this.#bodyStart + contentLength(head);
      this.#isLast = head.includes(CLOSE_HEADER);
    }
    if (this.#received.length < this.#length) return;
    const answer = this.#received;
    this.#received = '';
    this.#length = -1;
    if (this.#isLast) this.#openAnother();
    this.#handlers.onAnswer(this, Number(answer.slice(9, 12)), answer.slice(this.#bodyStart));
  }
}
