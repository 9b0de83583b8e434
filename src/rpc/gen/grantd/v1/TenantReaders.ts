// Original file: proto/grantd/v1/shard.proto


export interface TenantReaders {
  'readers'?: (number);
  'auto'?: (boolean);
}

export interface TenantReaders__Output {
  'readers': (number);
  'auto': (boolean);
}
