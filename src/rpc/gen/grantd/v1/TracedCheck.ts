// Original file: proto/grantd/v1/shard.proto


export interface TracedCheck {
  'index'?: (number);
  'traceparent'?: (string);
}

export interface TracedCheck__Output {
  'index': (number);
  'traceparent': (string);
}
