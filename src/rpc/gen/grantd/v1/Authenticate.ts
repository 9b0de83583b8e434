// Original file: proto/grantd/v1/shard.proto


export interface Authenticate {
  'tenantId'?: (string);
  'keyId'?: (string);
  'key'?: (string);
}

export interface Authenticate__Output {
  'tenantId': (string);
  'keyId': (string);
  'key': (string);
}
