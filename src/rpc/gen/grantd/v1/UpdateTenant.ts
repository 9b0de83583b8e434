// Original file: proto/grantd/v1/shard.proto

import type { ReadersChange as _grantd_v1_ReadersChange, ReadersChange__Output as _grantd_v1_ReadersChange__Output } from '../../grantd/v1/ReadersChange.ts';

export interface UpdateTenant {
  'tenantId'?: (string);
  'name'?: (string);
  'plan'?: (string);
  'state'?: (string);
  'operator'?: (string);
  'readers'?: (_grantd_v1_ReadersChange | null);
}

export interface UpdateTenant__Output {
  'tenantId': (string);
  'name': (string);
  'plan': (string);
  'state': (string);
  'operator': (string);
  'readers': (_grantd_v1_ReadersChange__Output | null);
}
