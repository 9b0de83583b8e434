// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface AuditLogEntry {
  'index'?: (number);
  'seq'?: (number | string | Long);
  'atMs'?: (number | string | Long);
  'actor'?: (string);
  'requestId'?: (string);
  'change'?: (string);
}

export interface AuditLogEntry__Output {
  'index': (number);
  'seq': (number);
  'atMs': (number);
  'actor': (string);
  'requestId': (string);
  'change': (string);
}
