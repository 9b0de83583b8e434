// Original file: proto/grantd/v1/shard.proto


export interface FindTenants {
  'after'?: (string);
  'limit'?: (number);
  'name'?: (string);
}

export interface FindTenants__Output {
  'after': (string);
  'limit': (number);
  'name': (string);
}
