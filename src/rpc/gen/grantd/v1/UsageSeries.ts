// Original file: proto/grantd/v1/shard.proto

import type { UsageBucket as _grantd_v1_UsageBucket, UsageBucket__Output as _grantd_v1_UsageBucket__Output } from '../../grantd/v1/UsageBucket.ts';

export interface UsageSeries {
  'bucketMinutes'?: (number);
  'buckets'?: (_grantd_v1_UsageBucket)[];
}

export interface UsageSeries__Output {
  'bucketMinutes': (number);
  'buckets': (_grantd_v1_UsageBucket__Output)[];
}
