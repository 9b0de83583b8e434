// Original file: proto/grantd/v1/shard.proto


export interface ShardLoad {
  'checksPerSecond'?: (number | string);
  'failuresPerSecond'?: (number | string);
  'p99Ms'?: (number | string);
  'shardName'?: (string);
}

export interface ShardLoad__Output {
  'checksPerSecond': (number);
  'failuresPerSecond': (number);
  'p99Ms': (number);
  'shardName': (string);
}
