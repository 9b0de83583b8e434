// Original file: proto/grantd/v1/shard.proto


export interface ListHolders {
  'object'?: (string);
  'relation'?: (string);
  'namespace'?: (string);
  'limit'?: (number);
  'cursor'?: (string);
  'direct'?: (boolean);
  'includeSelf'?: (boolean);
}

export interface ListHolders__Output {
  'object': (string);
  'relation': (string);
  'namespace': (string);
  'limit': (number);
  'cursor': (string);
  'direct': (boolean);
  'includeSelf': (boolean);
}
