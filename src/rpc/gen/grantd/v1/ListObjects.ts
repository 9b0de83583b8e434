// Original file: proto/grantd/v1/shard.proto


export interface ListObjects {
  'subject'?: (string);
  'relation'?: (string);
  'namespace'?: (string);
  'limit'?: (number);
  'cursor'?: (string);
  'direct'?: (boolean);
}

export interface ListObjects__Output {
  'subject': (string);
  'relation': (string);
  'namespace': (string);
  'limit': (number);
  'cursor': (string);
  'direct': (boolean);
}
