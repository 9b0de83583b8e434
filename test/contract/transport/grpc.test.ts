// gRPC over loopback, as in a cluster.

import { createGrpcTransport } from '../../../src/rpc/transport/grpc-transport.ts';
import { defineTransportContract } from './transport-contract.ts';

defineTransportContract('by gRPC', () => createGrpcTransport());
