// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface ReadUsage {
  'tenantId'?: (string);
  'sinceMs'?: (number | string | Long);
}

export interface ReadUsage__Output {
  'tenantId': (string);
  'sinceMs': (number);
}
