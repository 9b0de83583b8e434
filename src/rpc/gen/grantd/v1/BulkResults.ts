// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface BulkResults {
  'authorized'?: (boolean)[];
  'checkedAtMs'?: (number | string | Long);
}

export interface BulkResults__Output {
  'authorized': (boolean)[];
  'checkedAtMs': (number);
}
