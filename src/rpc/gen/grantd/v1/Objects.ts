// Original file: proto/grantd/v1/shard.proto


export interface Objects {
  'objects'?: (string)[];
  'nextCursor'?: (string);
  'excluded'?: (string)[];
}

export interface Objects__Output {
  'objects': (string)[];
  'nextCursor': (string);
  'excluded': (string)[];
}
