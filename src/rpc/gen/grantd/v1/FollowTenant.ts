// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface FollowTenant {
  'tenantId'?: (string);
  'epoch'?: (number);
  'seq'?: (number | string | Long);
  'advance'?: (boolean);
  'usedKeys'?: (string)[];
  'usedAtMs'?: (number | string | Long)[];
}

export interface FollowTenant__Output {
  'tenantId': (string);
  'epoch': (number);
  'seq': (number);
  'advance': (boolean);
  'usedKeys': (string)[];
  'usedAtMs': (number)[];
}
