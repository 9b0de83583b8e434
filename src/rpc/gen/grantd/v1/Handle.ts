// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface Handle {
  'handle'?: (number);
  'tenantId'?: (string);
  'keyId'?: (string);
  'scopes'?: (number);
  'expiresAtMs'?: (number | string | Long);
  'plan'?: (string);
  'suspended'?: (boolean);
  'readers'?: (number);
  'nowMs'?: (number | string | Long);
}

export interface Handle__Output {
  'handle': (number);
  'tenantId': (string);
  'keyId': (string);
  'scopes': (number);
  'expiresAtMs': (number);
  'plan': (string);
  'suspended': (boolean);
  'readers': (number);
  'nowMs': (number);
}
