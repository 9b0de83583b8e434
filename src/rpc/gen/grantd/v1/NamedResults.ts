// Original file: proto/grantd/v1/shard.proto

import type { Reasons as _grantd_v1_Reasons, Reasons__Output as _grantd_v1_Reasons__Output } from '../../grantd/v1/Reasons.ts';
import type { Long } from '@grpc/proto-loader';

export interface NamedResults {
  'authorized'?: (boolean)[];
  'checkedAtMs'?: (number | string | Long);
  'because'?: (_grantd_v1_Reasons)[];
  'undefinedAt'?: (number)[];
  'proofs'?: (string)[];
}

export interface NamedResults__Output {
  'authorized': (boolean)[];
  'checkedAtMs': (number);
  'because': (_grantd_v1_Reasons__Output)[];
  'undefinedAt': (number)[];
  'proofs': (string)[];
}
