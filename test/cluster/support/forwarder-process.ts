// A process that forwards TCP connections: `forwarder-process.ts listen=target …`, each host:port. Paused (SIGSTOP), it
// is a network that swallows everything and refuses nothing; what it had not delivered comes out when it goes on, as
// after a partition. Prints a line when it listens.

import { connect, createServer, type Socket } from 'node:net';

const split = (address: string): { host: string; port: number } => {
  const [host = '', port = ''] = address.split(':');
  return { host, port: Number(port) };
};

function join(from: Socket, to: Socket): void {
  from.pipe(to);
  from.on('error', () => to.destroy());
  from.on('close', () => to.destroy());
}

let waiting = process.argv.length - 2;
for (const pair of process.argv.slice(2)) {
  const [listen = '', target = ''] = pair.split('=');
  const server = createServer({ noDelay: true }, (inbound) => {
    const outbound = connect({ ...split(target), noDelay: true });
    join(inbound, outbound);
    join(outbound, inbound);
  });
  server.listen(split(listen), () => {
    waiting -= 1;
    if (waiting === 0) process.stdout.write('listening\n');
  });
}
