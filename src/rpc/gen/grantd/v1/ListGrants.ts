// Original file: proto/grantd/v1/shard.proto


export interface ListGrants {
  'subject'?: (string);
  'limit'?: (number);
  'cursor'?: (string);
  'object'?: (string);
  'relation'?: (string);
}

export interface ListGrants__Output {
  'subject': (string);
  'limit': (number);
  'cursor': (string);
  'object': (string);
  'relation': (string);
}
