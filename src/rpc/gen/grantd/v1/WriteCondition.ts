// Original file: proto/grantd/v1/shard.proto


export interface WriteCondition {
  'subject'?: (string);
  'relation'?: (string);
  'object'?: (string);
  'exists'?: (boolean);
}

export interface WriteCondition__Output {
  'subject': (string);
  'relation': (string);
  'object': (string);
  'exists': (boolean);
}
