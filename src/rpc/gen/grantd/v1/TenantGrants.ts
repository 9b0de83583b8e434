// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface TenantGrants {
  'grants'?: (number | string | Long);
  'bytes'?: (number | string | Long);
}

export interface TenantGrants__Output {
  'grants': (number);
  'bytes': (number);
}
