// Original file: proto/grantd/v1/shard.proto


export interface Usage {
  'minute'?: (number);
  'slots'?: (number)[];
  'tenantIds'?: (string)[];
  'requests'?: (number)[];
  'refused'?: (number)[];
  'checks'?: (number)[];
}

export interface Usage__Output {
  'minute': (number);
  'slots': (number)[];
  'tenantIds': (string)[];
  'requests': (number)[];
  'refused': (number)[];
  'checks': (number)[];
}
