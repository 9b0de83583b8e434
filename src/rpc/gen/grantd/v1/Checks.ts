// Original file: proto/grantd/v1/shard.proto

import type { Relation as _grantd_v1_Relation, Relation__Output as _grantd_v1_Relation__Output } from '../../grantd/v1/Relation.ts';
import type { TracedCheck as _grantd_v1_TracedCheck, TracedCheck__Output as _grantd_v1_TracedCheck__Output } from '../../grantd/v1/TracedCheck.ts';

export interface Checks {
  'ids'?: (number)[];
  'handles'?: (number)[];
  'subjects'?: (string)[];
  'relations'?: (_grantd_v1_Relation)[];
  'objects'?: (string)[];
  'traced'?: (_grantd_v1_TracedCheck)[];
  'names'?: (string)[];
  'contexts'?: (string)[];
}

export interface Checks__Output {
  'ids': (number)[];
  'handles': (number)[];
  'subjects': (string)[];
  'relations': (_grantd_v1_Relation__Output)[];
  'objects': (string)[];
  'traced': (_grantd_v1_TracedCheck__Output)[];
  'names': (string)[];
  'contexts': (string)[];
}
