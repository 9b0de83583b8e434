// Original file: proto/grantd/v1/shard.proto

import type { CallContext as _grantd_v1_CallContext, CallContext__Output as _grantd_v1_CallContext__Output } from '../../grantd/v1/CallContext.ts';

export interface CheckNamed {
  'subjects'?: (string)[];
  'names'?: (string)[];
  'objects'?: (string)[];
  'explain'?: (boolean);
  'list'?: (string);
  'denyUndefined'?: (boolean);
  'callContext'?: (_grantd_v1_CallContext | null);
  'contexts'?: (string)[];
  'contextOf'?: (number)[];
}

export interface CheckNamed__Output {
  'subjects': (string)[];
  'names': (string)[];
  'objects': (string)[];
  'explain': (boolean);
  'list': (string);
  'denyUndefined': (boolean);
  'callContext': (_grantd_v1_CallContext__Output | null);
  'contexts': (string)[];
  'contextOf': (number)[];
}
