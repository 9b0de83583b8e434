// Original file: proto/grantd/v1/shard.proto


export interface CreateTenant {
  'tenantId'?: (string);
  'name'?: (string);
  'plan'?: (string);
  'operator'?: (string);
}

export interface CreateTenant__Output {
  'tenantId': (string);
  'name': (string);
  'plan': (string);
  'operator': (string);
}
