// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface GrantWrite {
  'revoke'?: (boolean);
  'subject'?: (string);
  'relation'?: (string);
  'object'?: (string);
  'expiresAtMs'?: (number | string | Long);
  'permanent'?: (boolean);
  'condition'?: (string);
  'unconditional'?: (boolean);
  'keepsExisting'?: (boolean);
  'keepsOutside'?: (boolean);
}

export interface GrantWrite__Output {
  'revoke': (boolean);
  'subject': (string);
  'relation': (string);
  'object': (string);
  'expiresAtMs': (number);
  'permanent': (boolean);
  'condition': (string);
  'unconditional': (boolean);
  'keepsExisting': (boolean);
  'keepsOutside': (boolean);
}
