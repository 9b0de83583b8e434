// Original file: proto/grantd/v1/shard.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { FrontMessage as _grantd_v1_FrontMessage, FrontMessage__Output as _grantd_v1_FrontMessage__Output } from '../../grantd/v1/FrontMessage.ts';
import type { ShardMessage as _grantd_v1_ShardMessage, ShardMessage__Output as _grantd_v1_ShardMessage__Output } from '../../grantd/v1/ShardMessage.ts';

export interface ShardClient extends grpc.Client {
  Exchange(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_grantd_v1_FrontMessage, _grantd_v1_ShardMessage__Output>;
  Exchange(options?: grpc.CallOptions): grpc.ClientDuplexStream<_grantd_v1_FrontMessage, _grantd_v1_ShardMessage__Output>;
  exchange(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_grantd_v1_FrontMessage, _grantd_v1_ShardMessage__Output>;
  exchange(options?: grpc.CallOptions): grpc.ClientDuplexStream<_grantd_v1_FrontMessage, _grantd_v1_ShardMessage__Output>;
  
}

export interface ShardHandlers extends grpc.UntypedServiceImplementation {
  Exchange: grpc.handleBidiStreamingCall<_grantd_v1_FrontMessage__Output, _grantd_v1_ShardMessage>;
  
}

export interface ShardDefinition extends grpc.ServiceDefinition {
  Exchange: MethodDefinition<_grantd_v1_FrontMessage, _grantd_v1_ShardMessage, _grantd_v1_FrontMessage__Output, _grantd_v1_ShardMessage__Output>
}
