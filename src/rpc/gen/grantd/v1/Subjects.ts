// Original file: proto/grantd/v1/shard.proto


export interface Subjects {
  'subjects'?: (string)[];
  'nextCursor'?: (string);
}

export interface Subjects__Output {
  'subjects': (string)[];
  'nextCursor': (string);
}
