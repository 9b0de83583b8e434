// Original file: proto/grantd/v1/shard.proto


export interface ReadUsage {
  'tenantId'?: (string);
}

export interface ReadUsage__Output {
  'tenantId': (string);
}
