// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface UsageBucket {
  'minute'?: (number);
  'requests'?: (number | string | Long);
  'refused'?: (number | string | Long);
  'checks'?: (number | string | Long);
  'plan'?: (string);
}

export interface UsageBucket__Output {
  'minute': (number);
  'requests': (number);
  'refused': (number);
  'checks': (number);
  'plan': (string);
}
