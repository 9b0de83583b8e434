// Original file: proto/grantd/v1/shard.proto

import type { Relation as _grantd_v1_Relation, Relation__Output as _grantd_v1_Relation__Output } from '../../grantd/v1/Relation.ts';
import type { Long } from '@grpc/proto-loader';

export interface WireTuple {
  'subject'?: (string);
  'relation'?: (_grantd_v1_Relation);
  'object'?: (string);
  'expiresAtMs'?: (number | string | Long);
  'permanent'?: (boolean);
  'condition'?: (string);
  'unconditional'?: (boolean);
}

export interface WireTuple__Output {
  'subject': (string);
  'relation': (_grantd_v1_Relation__Output);
  'object': (string);
  'expiresAtMs': (number);
  'permanent': (boolean);
  'condition': (string);
  'unconditional': (boolean);
}
