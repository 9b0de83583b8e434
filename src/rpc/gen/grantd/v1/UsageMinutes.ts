// Original file: proto/grantd/v1/shard.proto

import type { UsageMinute as _grantd_v1_UsageMinute, UsageMinute__Output as _grantd_v1_UsageMinute__Output } from '../../grantd/v1/UsageMinute.ts';

export interface UsageMinutes {
  'minutes'?: (_grantd_v1_UsageMinute)[];
}

export interface UsageMinutes__Output {
  'minutes': (_grantd_v1_UsageMinute__Output)[];
}
