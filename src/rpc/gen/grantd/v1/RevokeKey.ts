// Original file: proto/grantd/v1/shard.proto


export interface RevokeKey {
  'keyId'?: (string);
}

export interface RevokeKey__Output {
  'keyId': (string);
}
