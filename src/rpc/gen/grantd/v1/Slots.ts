// Original file: proto/grantd/v1/shard.proto

import type { Slot as _grantd_v1_Slot, Slot__Output as _grantd_v1_Slot__Output } from '../../grantd/v1/Slot.ts';

export interface Slots {
  'slots'?: (_grantd_v1_Slot)[];
  'incarnation'?: (string);
  'shardName'?: (string);
}

export interface Slots__Output {
  'slots': (_grantd_v1_Slot__Output)[];
  'incarnation': (string);
  'shardName': (string);
}
