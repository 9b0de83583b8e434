// Original file: proto/grantd/v1/shard.proto

import type { GrantOutcome as _grantd_v1_GrantOutcome, GrantOutcome__Output as _grantd_v1_GrantOutcome__Output } from '../../grantd/v1/GrantOutcome.ts';
import type { Long } from '@grpc/proto-loader';

export interface GrantResult {
  'outcome'?: (_grantd_v1_GrantOutcome);
  'grantId'?: (string);
  'createdAtMs'?: (number | string | Long);
  'errorCode'?: (string);
  'errorMessage'?: (string);
  'expiresAtMs'?: (number | string | Long);
  'notFollowed'?: (string);
  'condition'?: (string);
  'changed'?: (boolean);
}

export interface GrantResult__Output {
  'outcome': (_grantd_v1_GrantOutcome__Output);
  'grantId': (string);
  'createdAtMs': (number);
  'errorCode': (string);
  'errorMessage': (string);
  'expiresAtMs': (number);
  'notFollowed': (string);
  'condition': (string);
  'changed': (boolean);
}
