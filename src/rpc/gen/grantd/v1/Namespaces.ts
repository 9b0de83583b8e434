// Original file: proto/grantd/v1/shard.proto

import type { Namespace as _grantd_v1_Namespace, Namespace__Output as _grantd_v1_Namespace__Output } from '../../grantd/v1/Namespace.ts';

export interface Namespaces {
  'namespaces'?: (_grantd_v1_Namespace)[];
}

export interface Namespaces__Output {
  'namespaces': (_grantd_v1_Namespace__Output)[];
}
