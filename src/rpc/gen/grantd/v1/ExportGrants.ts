// Original file: proto/grantd/v1/shard.proto


export interface ExportGrants {
  'limit'?: (number);
  'cursor'?: (string);
}

export interface ExportGrants__Output {
  'limit': (number);
  'cursor': (string);
}
