// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface Member {
  'incarnation'?: (string);
  'shardName'?: (string);
  'address'?: (string);
  'state'?: (string);
  'startedAtMs'?: (number | string | Long);
  'beat'?: (number | string | Long);
}

export interface Member__Output {
  'incarnation': (string);
  'shardName': (string);
  'address': (string);
  'state': (string);
  'startedAtMs': (number);
  'beat': (number);
}
