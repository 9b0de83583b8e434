// Original file: proto/grantd/v1/shard.proto

import type { RulesVersion as _grantd_v1_RulesVersion, RulesVersion__Output as _grantd_v1_RulesVersion__Output } from '../../grantd/v1/RulesVersion.ts';

export interface RulesVersions {
  'versions'?: (_grantd_v1_RulesVersion)[];
}

export interface RulesVersions__Output {
  'versions': (_grantd_v1_RulesVersion__Output)[];
}
