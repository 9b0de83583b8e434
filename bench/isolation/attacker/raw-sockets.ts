// Connections that send bytes and read nothing, or as little as possible. They stay open until the process ends.

import { connect, type Socket } from 'node:net';
import { forEachAtATime } from '../../at-a-time.ts';
import type { AttackRun } from './attack-run.ts';

/** More at once would overflow the kernel's queue of new connections. */
const OPENING_MAX = 100;

export interface RawSocketOptions {
  readonly url: string;
  readonly count: number;
  /** Sent once when the connection is open; all share the same bytes in memory. */
  readonly bytes?: Buffer;
  /** Default: nothing is read. */
  readonly onText?: (text: string, socket: Socket) => void;
  /** Called however it ended, even before it was open. */
  readonly onClose?: (socket: Socket) => void;
}

function open(run: AttackRun, options: RawSocketOptions, sockets: Socket[]): Promise<void> {
  const { url, bytes, onText, onClose } = options;
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  return new Promise((resolve) => {
    socket.once('connect', () => {
      run.count('opened');
      if (bytes !== undefined) socket.write(bytes);
      resolve();
    });
    socket.once('error', () => {
      run.count('reset');
      resolve();
    });
    socket.once('close', () => {
      run.count('closed');
      onClose?.(socket);
    });
    if (onText === undefined) socket.pause();
    else socket.setEncoding('latin1').on('data', (text: string) => onText(text, socket));
    sockets.push(socket);
  });
}

/** Resolves when all have been opened or refused. */
export async function openRawSockets(run: AttackRun, options: RawSocketOptions): Promise<readonly Socket[]> {
  const sockets: Socket[] = [];
  await forEachAtATime(Array(options.count).keys(), OPENING_MAX, () => open(run, options, sockets));
  return sockets;
}

/** For one request without a body. */
export const requestHead = (method: string, path: string, key?: string): string =>
  `${method} ${path} HTTP/1.1\r\nHost: grantd\r\n${key === undefined ? '' : `Authorization: Bearer ${key}\r\n`}\r\n`;
