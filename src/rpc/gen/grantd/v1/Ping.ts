// Original file: proto/grantd/v1/shard.proto


export interface Ping {
  'id'?: (number);
}

export interface Ping__Output {
  'id': (number);
}
