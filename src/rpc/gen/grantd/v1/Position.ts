// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface Position {
  'tenantId'?: (string);
  'epoch'?: (number);
  'seq'?: (number | string | Long);
  'nextBase'?: (number | string | Long);
  'nowMs'?: (number | string | Long);
  'toldReaders'?: (number);
}

export interface Position__Output {
  'tenantId': (string);
  'epoch': (number);
  'seq': (number);
  'nextBase': (number);
  'nowMs': (number);
  'toldReaders': (number);
}
