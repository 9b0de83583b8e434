// Original file: proto/grantd/v1/shard.proto


export interface WithoutGrants {
  'subject'?: (string);
  'relation'?: (string);
  'object'?: (string);
}

export interface WithoutGrants__Output {
  'subject': (string);
  'relation': (string);
  'object': (string);
}
