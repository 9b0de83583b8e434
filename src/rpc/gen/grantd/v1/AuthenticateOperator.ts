// Original file: proto/grantd/v1/shard.proto


export interface AuthenticateOperator {
  'tenantId'?: (string);
  'operator'?: (string);
}

export interface AuthenticateOperator__Output {
  'tenantId': (string);
  'operator': (string);
}
