// Original file: proto/grantd/v1/shard.proto

import type { TenantCounts as _grantd_v1_TenantCounts, TenantCounts__Output as _grantd_v1_TenantCounts__Output } from '../../grantd/v1/TenantCounts.ts';
import type { TenantDeletion as _grantd_v1_TenantDeletion, TenantDeletion__Output as _grantd_v1_TenantDeletion__Output } from '../../grantd/v1/TenantDeletion.ts';
import type { UsageBucket as _grantd_v1_UsageBucket, UsageBucket__Output as _grantd_v1_UsageBucket__Output } from '../../grantd/v1/UsageBucket.ts';
import type { TenantGrants as _grantd_v1_TenantGrants, TenantGrants__Output as _grantd_v1_TenantGrants__Output } from '../../grantd/v1/TenantGrants.ts';
import type { TenantReaders as _grantd_v1_TenantReaders, TenantReaders__Output as _grantd_v1_TenantReaders__Output } from '../../grantd/v1/TenantReaders.ts';
import type { ChosenReaders as _grantd_v1_ChosenReaders, ChosenReaders__Output as _grantd_v1_ChosenReaders__Output } from '../../grantd/v1/ChosenReaders.ts';
import type { Long } from '@grpc/proto-loader';

export interface Tenant {
  'tenantId'?: (string);
  'name'?: (string);
  'plan'?: (string);
  'state'?: (string);
  'createdAtMs'?: (number | string | Long);
  'counts'?: (_grantd_v1_TenantCounts | null);
  'deletion'?: (_grantd_v1_TenantDeletion | null);
  'lastMinute'?: (_grantd_v1_UsageBucket | null);
  'grants'?: (_grantd_v1_TenantGrants | null);
  'readers'?: (_grantd_v1_TenantReaders | null);
  'chosenReaders'?: (_grantd_v1_ChosenReaders | null);
}

export interface Tenant__Output {
  'tenantId': (string);
  'name': (string);
  'plan': (string);
  'state': (string);
  'createdAtMs': (number);
  'counts': (_grantd_v1_TenantCounts__Output | null);
  'deletion': (_grantd_v1_TenantDeletion__Output | null);
  'lastMinute': (_grantd_v1_UsageBucket__Output | null);
  'grants': (_grantd_v1_TenantGrants__Output | null);
  'readers': (_grantd_v1_TenantReaders__Output | null);
  'chosenReaders': (_grantd_v1_ChosenReaders__Output | null);
}
