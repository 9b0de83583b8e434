// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface RotateKey {
  'keyId'?: (string);
  'newKeyId'?: (string);
  'hash'?: (string);
  'graceMs'?: (number | string | Long);
}

export interface RotateKey__Output {
  'keyId': (string);
  'newKeyId': (string);
  'hash': (string);
  'graceMs': (number);
}
