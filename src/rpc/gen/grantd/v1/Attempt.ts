// Original file: proto/grantd/v1/shard.proto


export interface Attempt {
  'requestId'?: (string);
  'expiresAtMs'?: (number | string);
}

export interface Attempt__Output {
  'requestId': (string);
  'expiresAtMs': (number);
}
