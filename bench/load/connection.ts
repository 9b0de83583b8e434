// One keep-alive connection with at most one request under way, as cheap as can be: the client shares the machine with
// what it measures. It reads nothing of HTTP but the status and the length, and takes anything unexpected for an error.

import { connect, type Socket } from 'node:net';

const HEAD_END = '\r\n\r\n';
const LENGTH_HEADER = '\r\ncontent-length:';

/** The body's length in bytes; the whole text is ASCII here. */
function contentLength(head: string): number {
  const start = head.toLowerCase().indexOf(LENGTH_HEADER);
  if (start < 0) throw new Error(`An answer without a length: ${head}`);
  return Number.parseInt(head.slice(start + LENGTH_HEADER.length), 10);
}

export class Connection {
  readonly #socket: Socket;
  readonly #onAnswer: (connection: Connection, status: number, body: string) => void;
  #received = '';
  /** Of the whole answer; −1 while its head is not there yet. */
  #length = -1;
  #bodyStart = 0;
  /** Number of the request under way, and when it was due; the client's own. */
  request = 0;
  dueMs = 0;

  constructor(
    address: { readonly host: string; readonly port: number },
    handlers: {
      readonly onOpen: (connection: Connection) => void;
      readonly onAnswer: (connection: Connection, status: number, body: string) => void;
      readonly onError: (error: Error) => void;
    },
  ) {
    this.#onAnswer = handlers.onAnswer;
    this.#socket = connect({ ...address, noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.on('connect', () => handlers.onOpen(this));
    this.#socket.on('data', (text: string) => this.#take(text));
    this.#socket.on('error', handlers.onError);
    this.#socket.on('end', () => handlers.onError(new Error('The server ended a connection.')));
  }

  send(request: string): void {
    this.#socket.write(request, 'latin1');
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #take(text: string): void {
    this.#received = this.#received === '' ? text : this.#received + text;
    if (this.#length < 0) {
      const headEnd = this.#received.indexOf(HEAD_END);
      if (headEnd < 0) return;
      this.#bodyStart = headEnd + HEAD_END.length;
      this.#length = this.#bodyStart + contentLength(this.#received.slice(0, headEnd));
    }
    if (this.#received.length < this.#length) return;
    const answer = this.#received;
    this.#received = '';
    this.#length = -1;
    this.#onAnswer(this, Number(answer.slice(9, 12)), answer.slice(this.#bodyStart));
  }
}
