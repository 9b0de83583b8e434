// Original file: proto/grantd/v1/shard.proto


export interface Welcome {
  'version'?: (string);
  'incarnation'?: (string);
  'shardName'?: (string);
  'slots'?: (number);
  'deadlineMs'?: (number);
  'leaseMs'?: (number);
  'clusterId'?: (string);
}

export interface Welcome__Output {
  'version': (string);
  'incarnation': (string);
  'shardName': (string);
  'slots': (number);
  'deadlineMs': (number);
  'leaseMs': (number);
  'clusterId': (string);
}
