// Original file: proto/grantd/v1/shard.proto

import type { Relation as _grantd_v1_Relation, Relation__Output as _grantd_v1_Relation__Output } from '../../grantd/v1/Relation.ts';

export interface ListGrants {
  'subject'?: (string);
  'limit'?: (number);
  'cursor'?: (string);
  'object'?: (string);
  'relation'?: (_grantd_v1_Relation);
}

export interface ListGrants__Output {
  'subject': (string);
  'limit': (number);
  'cursor': (string);
  'object': (string);
  'relation': (_grantd_v1_Relation__Output);
}
