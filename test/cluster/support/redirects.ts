// Loaded into a process under test before its program (`--import`): connections to certain addresses go to others,
// where a forwarder stands that the test can stop. So one process can be cut off from another, or from every node of
// the store, while all others reach them, without rights over the network of the machine.

import { Socket } from 'node:net';

/** `from=to,from=to`, each host:port. */
const redirects = new Map(
  (process.env.TEST_REDIRECTS ?? '')
    .split(',')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [from = '', to = ''] = pair.split('=');
      const [host = '', port = ''] = to.split(':');
      return [from, { host, port: Number(port) }] as const;
    }),
);

const targetOf = (host: unknown, port: unknown) => redirects.get(`${host}:${port}`);

function redirected<Options extends object>(options: Options): Options {
  const { host, port } = options as Partial<{ host: string; port: number }>;
  return { ...options, ...targetOf(host, port) };
}

const { connect } = Socket.prototype;

function withRedirect(args: unknown[]): unknown[] {
  const [first, second, ...rest] = args;
  if (Array.isArray(first)) {
    // What `net.connect` hands over: its own arguments, made uniform, in an array that it marks.
    if (typeof first[0] === 'object' && first[0] !== null) first[0] = redirected(first[0]);
    return args;
  }
  if (typeof first === 'object' && first !== null) return [redirected(first), second];
  const target = targetOf(second, first);
  return target === undefined ? args : [target.port, target.host, ...rest];
}

Socket.prototype.connect = function connectRedirected(this: Socket, ...args: unknown[]): Socket {
  return Reflect.apply(connect, this, withRedirect(args));
};
