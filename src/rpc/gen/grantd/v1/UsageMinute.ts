// Original file: proto/grantd/v1/shard.proto


export interface UsageMinute {
  'minute'?: (number);
  'requests'?: (number);
  'refused'?: (number);
  'checks'?: (number);
  'plan'?: (string);
}

export interface UsageMinute__Output {
  'minute': (number);
  'requests': (number);
  'refused': (number);
  'checks': (number);
  'plan': (string);
}
