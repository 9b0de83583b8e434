// Original file: proto/grantd/v1/shard.proto

import type { FailureKind as _grantd_v1_FailureKind, FailureKind__Output as _grantd_v1_FailureKind__Output } from '../../grantd/v1/FailureKind.ts';
import type { WrongOwner as _grantd_v1_WrongOwner, WrongOwner__Output as _grantd_v1_WrongOwner__Output } from '../../grantd/v1/WrongOwner.ts';

export interface Failure {
  'kind'?: (_grantd_v1_FailureKind);
  'code'?: (string);
  'message'?: (string);
  'wrongOwner'?: (_grantd_v1_WrongOwner | null);
  'earliest'?: (string);
}

export interface Failure__Output {
  'kind': (_grantd_v1_FailureKind__Output);
  'code': (string);
  'message': (string);
  'wrongOwner': (_grantd_v1_WrongOwner__Output | null);
  'earliest': (string);
}
