// Original file: proto/grantd/v1/shard.proto


export interface ListSlots {
  'loadOnly'?: (boolean);
}

export interface ListSlots__Output {
  'loadOnly': (boolean);
}
