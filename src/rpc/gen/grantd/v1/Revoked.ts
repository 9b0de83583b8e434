// Original file: proto/grantd/v1/shard.proto


export interface Revoked {
  'revoked'?: (number);
  'complete'?: (boolean);
}

export interface Revoked__Output {
  'revoked': (number);
  'complete': (boolean);
}
