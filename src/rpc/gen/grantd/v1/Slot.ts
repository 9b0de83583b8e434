// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface Slot {
  'slot'?: (number);
  'epoch'?: (number);
  'state'?: (string);
  'logEnd'?: (number | string | Long);
  'checkpoint'?: (number | string | Long);
  'tenants'?: (number);
}

export interface Slot__Output {
  'slot': (number);
  'epoch': (number);
  'state': (string);
  'logEnd': (number);
  'checkpoint': (number);
  'tenants': (number);
}
