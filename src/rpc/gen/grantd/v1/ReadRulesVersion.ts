// Original file: proto/grantd/v1/shard.proto


export interface ReadRulesVersion {
  'version'?: (number);
}

export interface ReadRulesVersion__Output {
  'version': (number);
}
