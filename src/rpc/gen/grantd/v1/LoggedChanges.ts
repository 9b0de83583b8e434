// Original file: proto/grantd/v1/shard.proto

import type { LoggedChange as _grantd_v1_LoggedChange, LoggedChange__Output as _grantd_v1_LoggedChange__Output } from '../../grantd/v1/LoggedChange.ts';
import type { Long } from '@grpc/proto-loader';

export interface LoggedChanges {
  'changes'?: (_grantd_v1_LoggedChange)[];
  'nextSeq'?: (number | string | Long);
  'atEnd'?: (boolean);
}

export interface LoggedChanges__Output {
  'changes': (_grantd_v1_LoggedChange__Output)[];
  'nextSeq': (number);
  'atEnd': (boolean);
}
