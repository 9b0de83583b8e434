// Original file: proto/grantd/v1/shard.proto


export interface MemberAddress {
  'shardName'?: (string);
  'address'?: (string);
}

export interface MemberAddress__Output {
  'shardName': (string);
  'address': (string);
}
