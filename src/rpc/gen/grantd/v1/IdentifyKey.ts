// Original file: proto/grantd/v1/shard.proto


export interface IdentifyKey {
  'keyId'?: (string);
  'hash'?: (string);
}

export interface IdentifyKey__Output {
  'keyId': (string);
  'hash': (string);
}
