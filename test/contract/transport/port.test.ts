// Between threads, as in `grantd dev --threads`. Both ends are here: a port does not know where the other one is.

import { MessageChannel } from 'node:worker_threads';
import { acceptPort, createPortTransport } from '../../../src/rpc/transport/port-transport.ts';
import { defineTransportContract } from './transport-contract.ts';

defineTransportContract('between threads', ({ address, accept }) =>
  createPortTransport(
    () => new MessageChannel(),
    (asked, port) => acceptPort(port, asked === address ? accept : undefined, 'a thread'),
  ),
);
