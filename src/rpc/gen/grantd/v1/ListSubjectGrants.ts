// Original file: proto/grantd/v1/shard.proto


export interface ListSubjectGrants {
  'subject'?: (string);
  'limit'?: (number);
  'cursor'?: (string);
}

export interface ListSubjectGrants__Output {
  'subject': (string);
  'limit': (number);
  'cursor': (string);
}
