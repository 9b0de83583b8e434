// Original file: proto/grantd/v1/shard.proto

import type { Key as _grantd_v1_Key, Key__Output as _grantd_v1_Key__Output } from '../../grantd/v1/Key.ts';

export interface RotatedKey {
  'key'?: (_grantd_v1_Key | null);
  'former'?: (_grantd_v1_Key | null);
  'revoked'?: (boolean);
}

export interface RotatedKey__Output {
  'key': (_grantd_v1_Key__Output | null);
  'former': (_grantd_v1_Key__Output | null);
  'revoked': (boolean);
}
