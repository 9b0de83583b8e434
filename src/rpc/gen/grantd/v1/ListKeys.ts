// Original file: proto/grantd/v1/shard.proto


export interface ListKeys {
  'limit'?: (number);
  'cursor'?: (string);
}

export interface ListKeys__Output {
  'limit': (number);
  'cursor': (string);
}
