// Original file: proto/grantd/v1/shard.proto

import type { GrantResult as _grantd_v1_GrantResult, GrantResult__Output as _grantd_v1_GrantResult__Output } from '../../grantd/v1/GrantResult.ts';

export interface BulkWritten {
  'grants'?: (_grantd_v1_GrantResult)[];
  'revoked'?: (boolean)[];
  'unmetCondition'?: (number);
  'errorCode'?: (string);
  'errorMessage'?: (string);
}

export interface BulkWritten__Output {
  'grants': (_grantd_v1_GrantResult__Output)[];
  'revoked': (boolean)[];
  'unmetCondition': (number);
  'errorCode': (string);
  'errorMessage': (string);
}
