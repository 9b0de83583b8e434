// Within one process, as in `grantd dev`.

import type { ShardServer } from '../../../src/rpc/serving/server.ts';
import { createDirectTransport } from '../../../src/rpc/transport/direct-transport.ts';
import type { OpenStream } from '../../../src/rpc/transport/transport.ts';
import { defineReaderContract } from './reader-contract.ts';
import { defineTransportContract } from './transport-contract.ts';

const connect = ({ address, accept }: ShardServer): OpenStream => createDirectTransport(new Map([[address, accept]]));

defineTransportContract('within a process', connect);
defineReaderContract('within a process', connect);
