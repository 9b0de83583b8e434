// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface CreateKey {
  'keyId'?: (string);
  'name'?: (string);
  'scopes'?: (number);
  'expiresAtMs'?: (number | string | Long);
  'hash'?: (string);
}

export interface CreateKey__Output {
  'keyId': (string);
  'name': (string);
  'scopes': (number);
  'expiresAtMs': (number);
  'hash': (string);
}
