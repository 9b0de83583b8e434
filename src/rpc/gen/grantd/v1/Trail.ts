// Original file: proto/grantd/v1/shard.proto

import type { TrailEntry as _grantd_v1_TrailEntry, TrailEntry__Output as _grantd_v1_TrailEntry__Output } from '../../grantd/v1/TrailEntry.ts';
import type { Long } from '@grpc/proto-loader';

export interface Trail {
  'entries'?: (_grantd_v1_TrailEntry)[];
  'nextCursor'?: (string);
  'resumeCursor'?: (string);
  'scannedToMs'?: (number | string | Long);
}

export interface Trail__Output {
  'entries': (_grantd_v1_TrailEntry__Output)[];
  'nextCursor': (string);
  'resumeCursor': (string);
  'scannedToMs': (number);
}
