// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface TenantCommits {
  'epoch'?: (number);
  'seq'?: (number | string | Long);
  'nextBase'?: (number | string | Long);
  'appliedSeq'?: (number | string | Long);
  'commits'?: (string);
  'nowMs'?: (number | string | Long);
  'more'?: (boolean);
}

export interface TenantCommits__Output {
  'epoch': (number);
  'seq': (number);
  'nextBase': (number);
  'appliedSeq': (number);
  'commits': (string);
  'nowMs': (number);
  'more': (boolean);
}
