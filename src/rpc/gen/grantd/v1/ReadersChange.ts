// Original file: proto/grantd/v1/shard.proto


export interface ReadersChange {
  'byPlan'?: (boolean);
  'readers'?: (number);
  'auto'?: (boolean);
}

export interface ReadersChange__Output {
  'byPlan': (boolean);
  'readers': (number);
  'auto': (boolean);
}
