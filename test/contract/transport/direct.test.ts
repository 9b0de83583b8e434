// Within one process, as in `grantd dev`.

import { createDirectTransport } from '../../../src/rpc/transport/direct-transport.ts';
import { defineTransportContract } from './transport-contract.ts';

defineTransportContract('within a process', ({ address, accept }) =>
  createDirectTransport(new Map([[address, accept]])),
);
