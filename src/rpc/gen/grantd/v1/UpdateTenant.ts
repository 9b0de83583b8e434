// Original file: proto/grantd/v1/shard.proto


export interface UpdateTenant {
  'tenantId'?: (string);
  'name'?: (string);
  'plan'?: (string);
  'state'?: (string);
  'operator'?: (string);
}

export interface UpdateTenant__Output {
  'tenantId': (string);
  'name': (string);
  'plan': (string);
  'state': (string);
  'operator': (string);
}
