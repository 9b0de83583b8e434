// Original file: proto/grantd/v1/shard.proto


export interface Authenticate {
  'tenantId'?: (string);
  'keyId'?: (string);
  'hash'?: (string);
}

export interface Authenticate__Output {
  'tenantId': (string);
  'keyId': (string);
  'hash': (string);
}
