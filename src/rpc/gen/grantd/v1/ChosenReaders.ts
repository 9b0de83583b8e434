// Original file: proto/grantd/v1/shard.proto


export interface ChosenReaders {
  'readers'?: (number);
}

export interface ChosenReaders__Output {
  'readers': (number);
}
