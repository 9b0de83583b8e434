// Original file: proto/grantd/v1/shard.proto


export interface ListTenants {
  'after'?: (string);
  'limit'?: (number);
  'name'?: (string);
}

export interface ListTenants__Output {
  'after': (string);
  'limit': (number);
  'name': (string);
}
