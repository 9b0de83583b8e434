// Original file: proto/grantd/v1/shard.proto

import type { Load as _grantd_v1_Load, Load__Output as _grantd_v1_Load__Output } from '../../grantd/v1/Load.ts';
import type { Usage as _grantd_v1_Usage, Usage__Output as _grantd_v1_Usage__Output } from '../../grantd/v1/Usage.ts';

export interface Report {
  'load'?: (_grantd_v1_Load | null);
  'usage'?: (_grantd_v1_Usage | null);
}

export interface Report__Output {
  'load': (_grantd_v1_Load__Output | null);
  'usage': (_grantd_v1_Usage__Output | null);
}
