// Original file: proto/grantd/v1/shard.proto


export interface ListNames {
  'subject'?: (string);
  'object'?: (string);
  'limit'?: (number);
  'cursor'?: (string);
}

export interface ListNames__Output {
  'subject': (string);
  'object': (string);
  'limit': (number);
  'cursor': (string);
}
