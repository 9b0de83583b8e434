// Original file: proto/grantd/v1/shard.proto


export interface ReadPosition {
  'tenantId'?: (string);
  'slot'?: (number);
}

export interface ReadPosition__Output {
  'tenantId': (string);
  'slot': (number);
}
