// Original file: proto/grantd/v1/shard.proto


export interface ListSubjects {
  'limit'?: (number);
  'cursor'?: (string);
}

export interface ListSubjects__Output {
  'limit': (number);
  'cursor': (string);
}
