// Original file: proto/grantd/v1/shard.proto


export interface RepairTime {
  'slot'?: (number);
  'dryRun'?: (boolean);
}

export interface RepairTime__Output {
  'slot': (number);
  'dryRun': (boolean);
}
