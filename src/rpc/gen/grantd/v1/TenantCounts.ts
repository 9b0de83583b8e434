// Original file: proto/grantd/v1/shard.proto


export interface TenantCounts {
  'namespaces'?: (number);
  'keys'?: (number);
}

export interface TenantCounts__Output {
  'namespaces': (number);
  'keys': (number);
}
