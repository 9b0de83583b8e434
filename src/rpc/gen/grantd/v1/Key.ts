// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface Key {
  'keyId'?: (string);
  'name'?: (string);
  'scopes'?: (number);
  'createdAtMs'?: (number | string | Long);
  'expiresAtMs'?: (number | string | Long);
  'lastUsedAtMs'?: (number | string | Long);
  'rotatedFrom'?: (string);
  'rotatedTo'?: (string);
}

export interface Key__Output {
  'keyId': (string);
  'name': (string);
  'scopes': (number);
  'createdAtMs': (number);
  'expiresAtMs': (number);
  'lastUsedAtMs': (number);
  'rotatedFrom': (string);
  'rotatedTo': (string);
}
