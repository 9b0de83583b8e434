// Original file: proto/grantd/v1/shard.proto

import type { Reply as _grantd_v1_Reply, Reply__Output as _grantd_v1_Reply__Output } from '../../grantd/v1/Reply.ts';
import type { Long } from '@grpc/proto-loader';

export interface CheckResults {
  'authorized'?: (number)[];
  'denied'?: (number)[];
  'failed'?: (_grantd_v1_Reply)[];
  'checkedAtMs'?: (number | string | Long);
  'timed'?: (number)[];
  'timedAtMs'?: (number | string | Long)[];
  'hinted'?: (_grantd_v1_Reply)[];
}

export interface CheckResults__Output {
  'authorized': (number)[];
  'denied': (number)[];
  'failed': (_grantd_v1_Reply__Output)[];
  'checkedAtMs': (number);
  'timed': (number)[];
  'timedAtMs': (number)[];
  'hinted': (_grantd_v1_Reply__Output)[];
}
