// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface ReadLog {
  'slot'?: (number);
  'afterSeq'?: (number | string | Long);
  'sinceMs'?: (number | string | Long);
}

export interface ReadLog__Output {
  'slot': (number);
  'afterSeq': (number);
  'sinceMs': (number);
}
