// Original file: proto/grantd/v1/shard.proto


export interface IfMatch {
  'revisions'?: (string)[];
}

export interface IfMatch__Output {
  'revisions': (string)[];
}
