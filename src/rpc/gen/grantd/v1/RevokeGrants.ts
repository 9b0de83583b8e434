// Original file: proto/grantd/v1/shard.proto


export interface RevokeGrants {
  'subject'?: (string);
  'object'?: (string);
  'relation'?: (string);
}

export interface RevokeGrants__Output {
  'subject': (string);
  'object': (string);
  'relation': (string);
}
