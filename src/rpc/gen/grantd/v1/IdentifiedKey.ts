// Original file: proto/grantd/v1/shard.proto

import type { Key as _grantd_v1_Key, Key__Output as _grantd_v1_Key__Output } from '../../grantd/v1/Key.ts';

export interface IdentifiedKey {
  'key'?: (_grantd_v1_Key | null);
  'matches'?: (boolean);
}

export interface IdentifiedKey__Output {
  'key': (_grantd_v1_Key__Output | null);
  'matches': (boolean);
}
