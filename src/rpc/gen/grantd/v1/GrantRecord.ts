// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface GrantRecord {
  'subject'?: (string);
  'relation'?: (string);
  'object'?: (string);
  'grantId'?: (string);
  'createdAtMs'?: (number | string | Long);
  'expiresAtMs'?: (number | string | Long);
  'condition'?: (string);
}

export interface GrantRecord__Output {
  'subject': (string);
  'relation': (string);
  'object': (string);
  'grantId': (string);
  'createdAtMs': (number);
  'expiresAtMs': (number);
  'condition': (string);
}
