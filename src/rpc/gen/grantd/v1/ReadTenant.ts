// Original file: proto/grantd/v1/shard.proto


export interface ReadTenant {
  'tenantId'?: (string);
}

export interface ReadTenant__Output {
  'tenantId': (string);
}
