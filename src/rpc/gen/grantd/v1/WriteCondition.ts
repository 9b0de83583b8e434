// Original file: proto/grantd/v1/shard.proto

import type { Relation as _grantd_v1_Relation, Relation__Output as _grantd_v1_Relation__Output } from '../../grantd/v1/Relation.ts';

export interface WriteCondition {
  'subject'?: (string);
  'relation'?: (_grantd_v1_Relation);
  'object'?: (string);
  'exists'?: (boolean);
}

export interface WriteCondition__Output {
  'subject': (string);
  'relation': (_grantd_v1_Relation__Output);
  'object': (string);
  'exists': (boolean);
}
