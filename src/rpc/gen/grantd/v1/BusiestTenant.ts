// Original file: proto/grantd/v1/shard.proto


export interface BusiestTenant {
  'tenantId'?: (string);
  'share'?: (number | string);
}

export interface BusiestTenant__Output {
  'tenantId': (string);
  'share': (number);
}
