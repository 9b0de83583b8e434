// A server that answers with bytes, pauses and endings in place of HTTP: it can send what no HTTP library would.
// Invariant: each request that it reads is counted once, and each connection gets the script from its beginning.

import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { listenOnLoopback } from './listen-on-loopback.ts';

/**
 * Bytes to send; some sent many times; some sent again and again, with pauses, until the client leaves; and `end`: no
 * more bytes, `reset`: the connection breaks, `silence`: it stays, and nothing comes any more.
 */
export type Move =
  | Buffer
  | { readonly bytes: Buffer; readonly times: number }
  | { readonly trickle: Buffer }
  | 'end'
  | 'reset'
  | 'silence';

export type Script = readonly Move[];

export interface ReadRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** By their names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

export interface BadServer {
  readonly url: string;
  readonly seen: readonly ReadRequest[];
  close(): Promise<void>;
}

export interface Behaviour {
  /** For the request of this number, counted from 0. */
  readonly script: (number: number, request: ReadRequest) => Script;
  /** For each connection, before a request is read. */
  readonly atAccept?: Script;
}

const TRICKLE_MS = 20;
/** Of one connection: many times any deadline of a case. A client that has not left by then fails, and the run ends. */
const TRICKLES_MAX = 1000;
const WRITE_BYTES = 1 << 16;
const HEAD_END = Buffer.from('\r\n\r\n');

const isOpen = (socket: Socket): boolean => socket.writable && !socket.destroyed;

async function written(socket: Socket, bytes: Buffer): Promise<void> {
  if (!isOpen(socket) || socket.write(bytes)) return;
  await new Promise<void>((resolve) => {
    const settle = (): void => {
      socket.off('drain', settle).off('close', settle);
      resolve();
    };
    socket.on('drain', settle).on('close', settle);
  });
}

async function repeat(socket: Socket, bytes: Buffer, times: number): Promise<void> {
  const perWrite = Math.max(1, Math.floor(WRITE_BYTES / bytes.length));
  const block = Buffer.concat(Array.from({ length: Math.min(perWrite, times) }, () => bytes));
  for (let left = times; left > 0 && isOpen(socket); left -= perWrite) {
    await written(socket, left >= perWrite ? block : block.subarray(0, left * bytes.length));
  }
}

async function trickle(socket: Socket, bytes: Buffer): Promise<void> {
  for (let sent = 0; sent < TRICKLES_MAX && isOpen(socket); sent += 1) {
    await written(socket, bytes);
    await new Promise((resolve) => setTimeout(resolve, TRICKLE_MS));
  }
  socket.end();
}

async function play(socket: Socket, script: Script): Promise<void> {
  for (const move of script) {
    if (move === 'silence') return;
    if (move === 'end') socket.end();
    else if (move === 'reset') socket.resetAndDestroy();
    else if (Buffer.isBuffer(move)) await written(socket, move);
    else if ('trickle' in move) await trickle(socket, move.trickle);
    else await repeat(socket, move.bytes, move.times);
  }
}

/** The first request of the bytes, and where it ends. */
function requestIn(bytes: Buffer): { readonly request: ReadRequest; readonly end: number } | undefined {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const [line = '', ...fields] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n');
  const [method = '', path = ''] = line.split(' ');
  const headers = new Map(
    fields.map((field) => {
      const colon = field.indexOf(':');
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()] as const;
    }),
  );
  const start = headEnd + HEAD_END.length;
  const end = start + Number(headers.get('content-length') ?? 0);
  if (bytes.length < end) return undefined;
  return { request: { method, path, headers, body: bytes.subarray(start, end) }, end };
}

export async function startBadServer({ script, atAccept }: Behaviour): Promise<BadServer> {
  const seen: ReadRequest[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    let bytes: Buffer = Buffer.alloc(0);
    let playing: Promise<void> = Promise.resolve();
    // A client that leaves in the middle is what most scripts are about.
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    if (atAccept !== undefined) {
      playing = play(socket, atAccept);
      return;
    }
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      for (let found = requestIn(bytes); found !== undefined; found = requestIn(bytes)) {
        const { request, end } = found;
        bytes = bytes.subarray(end);
        // Somebody dials gRPC at a port where, a moment ago, nobody was.
        if (request.method === 'PRI') {
          socket.destroy();
          return;
        }
        const moves = script(seen.length, request);
        seen.push(request);
        playing = playing.then(() => play(socket, moves));
      }
    });
  });
  const url = await listenOnLoopback(server);
  return {
    url,
    seen,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
