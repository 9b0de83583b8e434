// Original file: proto/grantd/v1/shard.proto


export interface SlotOwner {
  'slot'?: (number);
  'epoch'?: (number);
  'incarnation'?: (string);
}

export interface SlotOwner__Output {
  'slot': (number);
  'epoch': (number);
  'incarnation': (string);
}
