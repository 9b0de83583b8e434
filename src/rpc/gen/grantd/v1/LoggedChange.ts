// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface LoggedChange {
  'tenantId'?: (string);
  'seq'?: (number | string | Long);
  'index'?: (number);
  'atMs'?: (number | string | Long);
  'actor'?: (string);
  'requestId'?: (string);
  'change'?: (string);
}

export interface LoggedChange__Output {
  'tenantId': (string);
  'seq': (number);
  'index': (number);
  'atMs': (number);
  'actor': (string);
  'requestId': (string);
  'change': (string);
}
