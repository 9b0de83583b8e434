// Original file: proto/grantd/v1/shard.proto


export interface ReadersChange {
  'byPlan'?: (boolean);
  'readers'?: (number);
}

export interface ReadersChange__Output {
  'byPlan': (boolean);
  'readers': (number);
}
