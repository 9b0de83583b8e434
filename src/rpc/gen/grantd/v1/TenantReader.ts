// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface TenantReader {
  'tenantId'?: (string);
  'slot'?: (number);
  'epoch'?: (number);
  'position'?: (number | string | Long);
  'calls'?: (number | string | Long);
  'readIndexes'?: (number | string | Long);
  'handedOver'?: (number | string | Long);
  'begun'?: (number | string | Long);
}

export interface TenantReader__Output {
  'tenantId': (string);
  'slot': (number);
  'epoch': (number);
  'position': (number);
  'calls': (number);
  'readIndexes': (number);
  'handedOver': (number);
  'begun': (number);
}
