// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface Tenant {
  'tenantId'?: (string);
  'name'?: (string);
  'plan'?: (string);
  'state'?: (string);
  'createdAtMs'?: (number | string | Long);
}

export interface Tenant__Output {
  'tenantId': (string);
  'name': (string);
  'plan': (string);
  'state': (string);
  'createdAtMs': (number);
}
