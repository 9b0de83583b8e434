// Original file: proto/grantd/v1/shard.proto

import type { Tenant as _grantd_v1_Tenant, Tenant__Output as _grantd_v1_Tenant__Output } from '../../grantd/v1/Tenant.ts';

export interface Tenants {
  'tenants'?: (_grantd_v1_Tenant)[];
  'scannedTo'?: (string);
}

export interface Tenants__Output {
  'tenants': (_grantd_v1_Tenant__Output)[];
  'scannedTo': (string);
}
