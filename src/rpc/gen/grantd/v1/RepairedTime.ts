// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface RepairedTime {
  'slot'?: (number);
  'state'?: (string);
  'aheadMs'?: (number | string | Long);
  'wallMs'?: (number | string | Long);
  'keys'?: (number);
}

export interface RepairedTime__Output {
  'slot': (number);
  'state': (string);
  'aheadMs': (number);
  'wallMs': (number);
  'keys': (number);
}
