// An HTTP proxy before a service that does to requests what a case asks for: it cuts, stalls, shortens and invents
// responses, and counts what it has seen and what it has let through. Invariant: a request without a matching fault
// passes unchanged, and so does its response.

import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { invented } from './invented-responses.ts';
import { listenOnLoopback } from './listen-on-loopback.ts';

export interface Fault {
  readonly method: string;
  readonly path: string;
  readonly body_contains?: string;
  readonly skip?: number;
  readonly times?: number;
  readonly do: string;
  readonly lines?: number;
  readonly bytes?: number;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly body?: string;
  readonly ndjson?: readonly unknown[];
  readonly problem?: string;
  readonly retry_after?: string;
  readonly members?: Readonly<Record<string, unknown>>;
}

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  reached: boolean;
}

export interface FaultProxy {
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  close(): Promise<void>;
}

/** Of a response in single bytes: short enough to be over before any deadline, and more than one packet. */
const SLOW_PAUSE_MS = 2;

interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly incoming: IncomingMessage;
  readonly body: Buffer;
  readonly response: ServerResponse;
  readonly record: SeenRequest;
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** `path` without the prefix under which clients of this proxy find the service. */
function forward(target: string, path: string, { incoming, body, method, record }: Exchange): Promise<IncomingMessage> {
  record.reached = true;
  const { hostname, port } = new URL(target);
  const headers = { ...incoming.headers, host: `${hostname}:${port}` };
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ hostname, port, method, path, headers, agent: false }, resolve);
    outgoing.on('error', reject);
    const abandon = (): void => void outgoing.destroy();
    incoming.socket.once('close', abandon);
    // A connection that is kept carries many requests.
    outgoing.once('close', () => incoming.socket.off('close', abandon));
    outgoing.end(body);
  });
}

/** A stream up to a line, and some bytes of the next. */
async function sendLines(answer: IncomingMessage, response: ServerResponse, fault: Fault): Promise<void> {
  let linesLeft = fault.lines ?? 0;
  let bytesLeft = fault.bytes ?? 0;
  for await (const chunk of answer) {
    for (const byte of chunk as Buffer) {
      if (linesLeft > 0) {
        response.write(Buffer.of(byte));
        if (byte === 0x0a) linesLeft -= 1;
      } else if (bytesLeft > 0) {
        response.write(Buffer.of(byte));
        bytesLeft -= 1;
      }
      if (linesLeft === 0 && bytesLeft === 0) return;
    }
  }
}

async function sendSlowly(body: Buffer, response: ServerResponse): Promise<void> {
  for (const byte of body) {
    response.write(Buffer.of(byte));
    await new Promise((resolve) => setTimeout(resolve, SLOW_PAUSE_MS));
  }
  response.end();
}

/** What has been sent leaves before the connection ends. */
function cut(response: ServerResponse): void {
  response.flushHeaders();
  response.socket?.end(() => response.socket?.destroy());
}

async function spoil(fault: Fault, exchange: Exchange, answer: IncomingMessage): Promise<void> {
  const { response } = exchange;
  const { connection: _, 'transfer-encoding': __, ...headers } = answer.headers;
  if (fault.do === 'cut-stream' || fault.do === 'stall-stream') {
    response.writeHead(answer.statusCode ?? 502, headers);
    await sendLines(answer, response, fault);
    if (fault.do === 'cut-stream') cut(response);
    return;
  }
  const body = await bodyOf(answer);
  if (fault.do === 'cut-after') {
    response.socket?.destroy();
  } else if (fault.do === 'garbage') {
    const text = '<html>not JSON';
    response.writeHead(answer.statusCode ?? 502, { ...headers, 'content-length': text.length }).end(text);
  } else if (fault.do === 'slow') {
    response.writeHead(answer.statusCode ?? 502, headers);
    await sendSlowly(body, response);
  } else {
    response.writeHead(answer.statusCode ?? 502, headers).write(body.subarray(0, body.length >> 1));
    if (fault.do === 'half') cut(response);
    else if (fault.do !== 'stall-half') throw new Error(`There is no fault ${fault.do}.`);
  }
}

async function pass(answer: IncomingMessage, response: ServerResponse): Promise<void> {
  const { connection: _, 'transfer-encoding': __, ...headers } = answer.headers;
  response.writeHead(answer.statusCode ?? 502, headers);
  response.flushHeaders();
  for await (const chunk of answer) response.write(chunk);
  response.end();
}

async function serve(exchange: Exchange, fault: Fault | undefined, target: string, path: string): Promise<void> {
  const { response } = exchange;
  if (fault?.do === 'stall') return;
  if (fault?.do === 'cut-before') {
    response.socket?.destroy();
  } else if (fault?.do === 'respond') {
    const { status, headers, body } = invented(fault);
    response.writeHead(status, headers).end(body);
  } else {
    const answer = await forward(target, path, exchange);
    if (fault === undefined) await pass(answer, response);
    else await spoil(fault, exchange, answer);
  }
}

class FaultList {
  readonly #faults: { fault: Fault; skip: number; times: number }[];

  constructor(faults: readonly Fault[]) {
    this.#faults = faults.map((fault) => ({ fault, skip: fault.skip ?? 0, times: fault.times ?? Infinity }));
  }

  take(method: string, path: string, body: Buffer): Fault | undefined {
    for (const entry of this.#faults) {
      const { fault } = entry;
      if (fault.method !== method || fault.path !== path || entry.times === 0) continue;
      if (fault.body_contains !== undefined && !body.includes(fault.body_contains)) continue;
      if (entry.skip > 0) {
        entry.skip -= 1;
        continue;
      }
      entry.times -= 1;
      return fault;
    }
    return undefined;
  }
}

/** `prefix`: where in the paths of clients those of the service begin, as in `/authorization`. */
export async function startFaultProxy(target: string, faults: readonly Fault[] = [], prefix = ''): Promise<FaultProxy> {
  const list = new FaultList(faults);
  const seen: SeenRequest[] = [];
  const server: Server = createServer((incoming, response) => {
    const handle = async (): Promise<void> => {
      const { method = '', url = '' } = incoming;
      const path = url.split('?', 1)[0] ?? '';
      const record: SeenRequest = { method, path, headers: incoming.headers, reached: false };
      seen.push(record);
      const body = await bodyOf(incoming);
      const fault = list.take(method, path, body);
      const exchange: Exchange = { method, path, incoming, body, response, record };
      await serve(exchange, fault, target, url.startsWith(prefix) ? url.slice(prefix.length) : url);
    };
    // A client that has left, and a service that has stopped, end the connection on both sides.
    handle().catch(() => response.destroy());
  });
  const url = await listenOnLoopback(server);
  return {
    url,
    seen,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
