// Original file: proto/grantd/v1/shard.proto


export interface ListTrail {
  'limit'?: (number);
  'cursor'?: (string);
}

export interface ListTrail__Output {
  'limit': (number);
  'cursor': (string);
}
