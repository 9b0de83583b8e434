// Original file: proto/grantd/v1/shard.proto

import type { Relation as _grantd_v1_Relation, Relation__Output as _grantd_v1_Relation__Output } from '../../grantd/v1/Relation.ts';
import type { Long } from '@grpc/proto-loader';

export interface GrantRecord {
  'subject'?: (string);
  'relation'?: (_grantd_v1_Relation);
  'object'?: (string);
  'grantId'?: (string);
  'createdAtMs'?: (number | string | Long);
  'expiresAtMs'?: (number | string | Long);
  'condition'?: (string);
}

export interface GrantRecord__Output {
  'subject': (string);
  'relation': (_grantd_v1_Relation__Output);
  'object': (string);
  'grantId': (string);
  'createdAtMs': (number);
  'expiresAtMs': (number);
  'condition': (string);
}
