// Original file: proto/grantd/v1/shard.proto

import type { Slot as _grantd_v1_Slot, Slot__Output as _grantd_v1_Slot__Output } from '../../grantd/v1/Slot.ts';
import type { SlotOwner as _grantd_v1_SlotOwner, SlotOwner__Output as _grantd_v1_SlotOwner__Output } from '../../grantd/v1/SlotOwner.ts';
import type { TenantReader as _grantd_v1_TenantReader, TenantReader__Output as _grantd_v1_TenantReader__Output } from '../../grantd/v1/TenantReader.ts';

export interface Slots {
  'slots'?: (_grantd_v1_Slot)[];
  'incarnation'?: (string);
  'shardName'?: (string);
  'leased'?: (boolean);
  'leaseLeftMs'?: (number | string);
  'owners'?: (_grantd_v1_SlotOwner)[];
  'readers'?: (_grantd_v1_TenantReader)[];
}

export interface Slots__Output {
  'slots': (_grantd_v1_Slot__Output)[];
  'incarnation': (string);
  'shardName': (string);
  'leased': (boolean);
  'leaseLeftMs': (number);
  'owners': (_grantd_v1_SlotOwner__Output)[];
  'readers': (_grantd_v1_TenantReader__Output)[];
}
