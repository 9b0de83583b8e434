// Original file: proto/grantd/v1/shard.proto


export interface Rules {
  'rules'?: (string);
}

export interface Rules__Output {
  'rules': (string);
}
