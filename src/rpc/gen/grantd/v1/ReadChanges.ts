// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface ReadChanges {
  'cursor'?: (string);
  'sinceMs'?: (number | string | Long);
  'fromNow'?: (boolean);
  'limit'?: (number);
  'waitMs'?: (number);
  'namespace'?: (string);
  'relation'?: (string);
  'actions'?: (string)[];
  'byAction'?: (boolean);
}

export interface ReadChanges__Output {
  'cursor': (string);
  'sinceMs': (number);
  'fromNow': (boolean);
  'limit': (number);
  'waitMs': (number);
  'namespace': (string);
  'relation': (string);
  'actions': (string)[];
  'byAction': (boolean);
}
