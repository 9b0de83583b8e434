// Original file: proto/grantd/v1/shard.proto

import type { CallContext as _grantd_v1_CallContext, CallContext__Output as _grantd_v1_CallContext__Output } from '../../grantd/v1/CallContext.ts';

export interface ListHolders {
  'object'?: (string);
  'relation'?: (string);
  'namespace'?: (string);
  'limit'?: (number);
  'cursor'?: (string);
  'direct'?: (boolean);
  'includeSelf'?: (boolean);
  'callContext'?: (_grantd_v1_CallContext | null);
}

export interface ListHolders__Output {
  'object': (string);
  'relation': (string);
  'namespace': (string);
  'limit': (number);
  'cursor': (string);
  'direct': (boolean);
  'includeSelf': (boolean);
  'callContext': (_grantd_v1_CallContext__Output | null);
}
