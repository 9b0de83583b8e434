// gRPC over loopback, as in a cluster.

import { createGrpcTransport } from '../../../src/rpc/transport/grpc-transport.ts';
import { defineReaderContract } from './reader-contract.ts';
import { defineTransportContract } from './transport-contract.ts';

defineTransportContract('by gRPC', () => createGrpcTransport());
defineReaderContract('by gRPC', () => createGrpcTransport());
