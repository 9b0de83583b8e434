// Original file: proto/grantd/v1/shard.proto

import type { GrantRecord as _grantd_v1_GrantRecord, GrantRecord__Output as _grantd_v1_GrantRecord__Output } from '../../grantd/v1/GrantRecord.ts';

export interface Grants {
  'grants'?: (_grantd_v1_GrantRecord)[];
  'nextCursor'?: (string);
  'feedCursor'?: (string);
}

export interface Grants__Output {
  'grants': (_grantd_v1_GrantRecord__Output)[];
  'nextCursor': (string);
  'feedCursor': (string);
}
