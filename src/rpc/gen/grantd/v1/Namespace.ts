// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface Namespace {
  'name'?: (string);
  'createdAtMs'?: (number | string | Long);
}

export interface Namespace__Output {
  'name': (string);
  'createdAtMs': (number);
}
