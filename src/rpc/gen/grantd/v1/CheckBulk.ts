// Original file: proto/grantd/v1/shard.proto

import type { Relation as _grantd_v1_Relation, Relation__Output as _grantd_v1_Relation__Output } from '../../grantd/v1/Relation.ts';

export interface CheckBulk {
  'subjects'?: (string)[];
  'relations'?: (_grantd_v1_Relation)[];
  'objects'?: (string)[];
}

export interface CheckBulk__Output {
  'subjects': (string)[];
  'relations': (_grantd_v1_Relation__Output)[];
  'objects': (string)[];
}
