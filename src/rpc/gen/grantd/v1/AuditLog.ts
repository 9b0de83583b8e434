// Original file: proto/grantd/v1/shard.proto

import type { AuditLogEntry as _grantd_v1_AuditLogEntry, AuditLogEntry__Output as _grantd_v1_AuditLogEntry__Output } from '../../grantd/v1/AuditLogEntry.ts';
import type { Long } from '@grpc/proto-loader';

export interface AuditLog {
  'entries'?: (_grantd_v1_AuditLogEntry)[];
  'nextCursor'?: (string);
  'resumeCursor'?: (string);
  'scannedToMs'?: (number | string | Long);
}

export interface AuditLog__Output {
  'entries': (_grantd_v1_AuditLogEntry__Output)[];
  'nextCursor': (string);
  'resumeCursor': (string);
  'scannedToMs': (number);
}
