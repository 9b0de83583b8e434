// Original file: proto/grantd/v1/shard.proto


export interface Routes {
  'slots'?: (number)[];
  'epochs'?: (number)[];
}

export interface Routes__Output {
  'slots': (number)[];
  'epochs': (number)[];
}
