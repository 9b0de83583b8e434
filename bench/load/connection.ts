// One keep-alive connection with at most one request in flight, as cheap as possible: the client shares the machine
// with what it measures. Of HTTP it reads only the status, the length, and whether the server closes the connection
// after this response; then it opens another one. It treats anything unexpected as an error.

import { connect, type Socket } from 'node:net';

const HEAD_END = '\r\n\r\n';
const LENGTH_HEADER = '\r\ncontent-length:';
const CLOSE_HEADER = '\r\nconnection: close\r\n';
/** A status without body and length. */
const NO_CONTENT = 'http/1.1 204 ';

/** The body's length in bytes, from a header in lower case; the whole text is ASCII here. */
function contentLength(head: string): number {
  const start = head.indexOf(LENGTH_HEADER);
  if (head.startsWith(NO_CONTENT)) return 0;
  if (start < 0) throw new Error(`A response without a length: ${head}`);
  return Number.parseInt(head.slice(start + LENGTH_HEADER.length), 10);
}

interface Handlers {
  /** Called once, when it can be used. */
  readonly onOpen: (connection: Connection) => void;
  readonly onAnswer: (connection: Connection, status: number, body: string) => void;
  readonly onError: (error: Error) => void;
}

export class Connection {
  readonly #address: { readonly host: string; readonly port: number };
  readonly #handlers: Handlers;
  #socket: Socket;
  #received = '';
  /** Of the whole response; −1 before its header has arrived. */
  #length = -1;
  #bodyStart = 0;
  /** The server closes the connection after this response. */
  #isLast = false;
  #sentBytes = 0;
  #receivedBytes = 0;
  /**
   * The index of the URL; then the number of the request in flight, and when it was due: these belong to the client.
   */
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

  /** Bytes written before it is open are sent then. */
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
