// Original file: proto/grantd/v1/shard.proto


export interface WrongOwner {
  'slot'?: (number);
  'epoch'?: (number);
  'incarnation'?: (string);
  'address'?: (string);
}

export interface WrongOwner__Output {
  'slot': (number);
  'epoch': (number);
  'incarnation': (string);
  'address': (string);
}
