// Original file: proto/grantd/v1/shard.proto

import type { CallContext as _grantd_v1_CallContext, CallContext__Output as _grantd_v1_CallContext__Output } from '../../grantd/v1/CallContext.ts';

export interface ListObjects {
  'subject'?: (string);
  'relation'?: (string);
  'namespace'?: (string);
  'limit'?: (number);
  'cursor'?: (string);
  'direct'?: (boolean);
  'callContext'?: (_grantd_v1_CallContext | null);
}

export interface ListObjects__Output {
  'subject': (string);
  'relation': (string);
  'namespace': (string);
  'limit': (number);
  'cursor': (string);
  'direct': (boolean);
  'callContext': (_grantd_v1_CallContext__Output | null);
}
