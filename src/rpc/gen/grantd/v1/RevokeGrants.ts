// Original file: proto/grantd/v1/shard.proto

import type { Relation as _grantd_v1_Relation, Relation__Output as _grantd_v1_Relation__Output } from '../../grantd/v1/Relation.ts';

export interface RevokeGrants {
  'subject'?: (string);
  'object'?: (string);
  'relation'?: (_grantd_v1_Relation);
}

export interface RevokeGrants__Output {
  'subject': (string);
  'object': (string);
  'relation': (_grantd_v1_Relation__Output);
}
