// Connections that do nothing, or not enough: what a server has to bear from whoever reaches its port.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Opened at once: fewer than a listening socket holds back. */
const BATCH = 50;

export interface IdleSockets {
  /** Those that the server has not closed. */
  readonly open: number;
  close(): void;
}

/** Opens `count` connections, a few at a time, and sends on each what `bytesOf` says; nothing that comes is read. */
export async function openIdleSockets(
  url: string,
  count: number,
  bytesOf: (index: number) => string | Buffer = () => '',
): Promise<IdleSockets> {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  const open = async (index: number): Promise<void> => {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on('error', () => {});
    sockets.push(socket);
    await once(socket, 'connect');
    const bytes = bytesOf(index);
    if (bytes.length > 0) socket.write(bytes);
  };
  for (let start = 0; start < count; start += BATCH) {
    await Promise.all(Array.from({ length: Math.min(BATCH, count - start) }, (_, index) => open(start + index)));
  }
  return {
    get open() {
      return sockets.filter(({ closed }) => !closed).length;
    },
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Of a count with labels, as the metrics say it: 0 where it is not there yet. */
export function countIn(metrics: string, series: string): number {
  const line = metrics.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? 0 : Number(line.slice(series.length + 1));
}
