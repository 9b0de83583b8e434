// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface ListAuditLog {
  'limit'?: (number);
  'cursor'?: (string);
  'tenantId'?: (string);
  'newestFirst'?: (boolean);
  'sinceMs'?: (number | string | Long);
  'untilMs'?: (number | string | Long);
  'action'?: (string);
  'actor'?: (string);
  'subject'?: (string);
  'object'?: (string);
  'requestId'?: (string);
}

export interface ListAuditLog__Output {
  'limit': (number);
  'cursor': (string);
  'tenantId': (string);
  'newestFirst': (boolean);
  'sinceMs': (number);
  'untilMs': (number);
  'action': (string);
  'actor': (string);
  'subject': (string);
  'object': (string);
  'requestId': (string);
}
