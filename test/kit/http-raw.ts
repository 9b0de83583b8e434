// A TCP connection for tests that send what no HTTP client would.

import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { isErrorCode } from '../../src/core/errors.ts';

/** Longer than anything a test waits for; a wait that reaches it has failed. */
const WAIT_MS_MAX = 60_000;

export class RawConnection {
  readonly #socket: Socket;
  #received = '';
  #closed = false;
  #wake: (() => void)[] = [];

  private constructor(socket: Socket) {
    this.#socket = socket;
    const wake = (): void => {
      for (const waiting of this.#wake.splice(0)) waiting();
    };
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => {
      this.#received += text;
      wake();
    });
    socket.on('error', () => {});
    // The server may only end its side; this side answers that by ending too.
    socket.on('end', () => socket.end());
    socket.on('close', () => {
      this.#closed = true;
      wake();
    });
  }

  static async open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new RawConnection(socket);
  }

  get received(): string {
    return this.#received;
  }

  get closed(): boolean {
    return this.#closed;
  }

  send(bytes: string | Buffer): void {
    if (!this.#socket.destroyed) this.#socket.write(bytes);
  }

  /** Says that nothing more will be sent; still reads. */
  endSending(): void {
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  async #until(condition: () => boolean, what: string): Promise<void> {
    const timer = setTimeout(() => this.#socket.destroy(new Error('waited too long')), WAIT_MS_MAX);
    try {
      while (!condition()) {
        if (this.#closed) throw new Error(`The connection closed before ${what}; received: ${this.#received}`);
        await new Promise<void>((resolve) => this.#wake.push(resolve));
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Waits for the server to close or reset the connection; all that was received. */
  async readToEnd(): Promise<string> {
    await this.#until(() => this.#closed, 'the end');
    return this.#received;
  }

  /** Waits until `count` whole responses have come. */
  async readResponses(count: number): Promise<readonly RawResponse[]> {
    await this.#until(() => parseResponses(this.#received).length >= count, `${count} responses`);
    return parseResponses(this.#received);
  }

  async readUntil(text: string): Promise<void> {
    await this.#until(() => this.#received.includes(text), text);
  }
}

export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The whole responses at the start of a text; each must have a Content-Length, be a 204 or an interim one. */
export function parseResponses(text: string): readonly RawResponse[] {
  const responses: RawResponse[] = [];
  let rest = Buffer.from(text);
  for (;;) {
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd === -1) return responses;
    const [statusLine = '', ...lines] = rest.subarray(0, headEnd).toString().split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const length = Number(headers['content-length'] ?? 0);
    const bodyStart = headEnd + 4;
    if (rest.length < bodyStart + length) return responses;
    responses.push({
      status: Number(statusLine.split(' ')[1]),
      headers,
      body: rest.subarray(bodyStart, bodyStart + length).toString(),
    });
    rest = rest.subarray(bodyStart + length);
  }
}

/** The one response that `bytes` gets before the connection ends. */
export async function rawExchange(url: string, bytes: string | Buffer): Promise<RawResponse> {
  const connection = await RawConnection.open(url);
  connection.send(bytes);
  const [first] = parseResponses(await connection.readToEnd());
  if (first === undefined) throw new Error(`No response; received: ${connection.received}`);
  return first;
}

/** The fields and headers that every problem document has. */
export function assertRawProblem(
  response: RawResponse | undefined,
  status: number,
  type: string,
  errorsBase: string,
): void {
  assert.ok(isErrorCode(type));
  assert.ok(response !== undefined, 'there is a response');
  assert.equal(response.status, status, JSON.stringify(response));
  assert.equal(response.headers['content-type'], 'application/problem+json');
  assert.equal(response.headers['cache-control'], 'no-store');
  const problem: unknown = JSON.parse(response.body);
  assert.ok(typeof problem === 'object' && problem !== null && 'type' in problem && 'instance' in problem);
  assert.equal(problem.type, `${errorsBase}/${type}`);
  assert.equal(problem.instance, response.headers['x-service-request-id']);
  assert.match(String(problem.instance), /^req_/);
}
