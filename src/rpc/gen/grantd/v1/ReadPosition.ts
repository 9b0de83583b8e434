// Original file: proto/grantd/v1/shard.proto


export interface ReadPosition {
  'tenantId'?: (string);
}

export interface ReadPosition__Output {
  'tenantId': (string);
}
