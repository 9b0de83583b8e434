// Original file: proto/grantd/v1/shard.proto

import type { Namespace as _grantd_v1_Namespace, Namespace__Output as _grantd_v1_Namespace__Output } from '../../grantd/v1/Namespace.ts';

export interface NamespaceResult {
  'created'?: (boolean);
  'namespace'?: (_grantd_v1_Namespace | null);
}

export interface NamespaceResult__Output {
  'created': (boolean);
  'namespace': (_grantd_v1_Namespace__Output | null);
}
