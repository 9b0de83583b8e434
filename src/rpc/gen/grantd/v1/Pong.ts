// Original file: proto/grantd/v1/shard.proto


export interface Pong {
  'id'?: (number);
  'shardMs'?: (number | string);
}

export interface Pong__Output {
  'id': (number);
  'shardMs': (number);
}
