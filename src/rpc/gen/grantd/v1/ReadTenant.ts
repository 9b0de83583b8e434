// Original file: proto/grantd/v1/shard.proto


export interface ReadTenant {
  'tenantId'?: (string);
  'usage'?: (boolean);
}

export interface ReadTenant__Output {
  'tenantId': (string);
  'usage': (boolean);
}
