// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface Member {
  'incarnation'?: (string);
  'shardName'?: (string);
  'address'?: (string);
  'state'?: (string);
  'startedAtMs'?: (number | string | Long);
  'heartbeat'?: (number | string | Long);
}

export interface Member__Output {
  'incarnation': (string);
  'shardName': (string);
  'address': (string);
  'state': (string);
  'startedAtMs': (number);
  'heartbeat': (number);
}
