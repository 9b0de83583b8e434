// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface TenantDeletion {
  'partsRemoved'?: (number);
  'lastPartAtMs'?: (number | string | Long);
}

export interface TenantDeletion__Output {
  'partsRemoved': (number);
  'lastPartAtMs': (number);
}
