// Original file: proto/grantd/v1/shard.proto


export interface Load {
  'elapsedMs'?: (number);
  'checks'?: (number);
  'failures'?: (number);
  'latencies'?: (number)[];
}

export interface Load__Output {
  'elapsedMs': (number);
  'checks': (number);
  'failures': (number);
  'latencies': (number)[];
}
