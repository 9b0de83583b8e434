// Original file: proto/grantd/v1/shard.proto


export interface Names {
  'names'?: (string)[];
  'nextCursor'?: (string);
}

export interface Names__Output {
  'names': (string)[];
  'nextCursor': (string);
}
