// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface WireTuple {
  'subject'?: (string);
  'relation'?: (string);
  'object'?: (string);
  'expiresAtMs'?: (number | string | Long);
  'permanent'?: (boolean);
  'condition'?: (string);
  'unconditional'?: (boolean);
  'keepsExisting'?: (boolean);
}

export interface WireTuple__Output {
  'subject': (string);
  'relation': (string);
  'object': (string);
  'expiresAtMs': (number);
  'permanent': (boolean);
  'condition': (string);
  'unconditional': (boolean);
  'keepsExisting': (boolean);
}
