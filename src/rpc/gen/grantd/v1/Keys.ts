// Original file: proto/grantd/v1/shard.proto

import type { Key as _grantd_v1_Key, Key__Output as _grantd_v1_Key__Output } from '../../grantd/v1/Key.ts';

export interface Keys {
  'keys'?: (_grantd_v1_Key)[];
  'nextCursor'?: (string);
}

export interface Keys__Output {
  'keys': (_grantd_v1_Key__Output)[];
  'nextCursor': (string);
}
