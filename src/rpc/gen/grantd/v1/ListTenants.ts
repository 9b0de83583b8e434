// Original file: proto/grantd/v1/shard.proto


export interface ListTenants {
  'after'?: (string);
  'limit'?: (number);
}

export interface ListTenants__Output {
  'after': (string);
  'limit': (number);
}
