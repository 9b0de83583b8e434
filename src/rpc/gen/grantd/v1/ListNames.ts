// Original file: proto/grantd/v1/shard.proto

import type { CallContext as _grantd_v1_CallContext, CallContext__Output as _grantd_v1_CallContext__Output } from '../../grantd/v1/CallContext.ts';

export interface ListNames {
  'subject'?: (string);
  'object'?: (string);
  'limit'?: (number);
  'cursor'?: (string);
  'callContext'?: (_grantd_v1_CallContext | null);
}

export interface ListNames__Output {
  'subject': (string);
  'object': (string);
  'limit': (number);
  'cursor': (string);
  'callContext': (_grantd_v1_CallContext__Output | null);
}
