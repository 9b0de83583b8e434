// Original file: proto/grantd/v1/shard.proto

import type { IfMatch as _grantd_v1_IfMatch, IfMatch__Output as _grantd_v1_IfMatch__Output } from '../../grantd/v1/IfMatch.ts';

export interface WriteRules {
  'rules'?: (string);
  'ifMatch'?: (_grantd_v1_IfMatch | null);
  'keepsOutside'?: (boolean);
}

export interface WriteRules__Output {
  'rules': (string);
  'ifMatch': (_grantd_v1_IfMatch__Output | null);
  'keepsOutside': (boolean);
}
