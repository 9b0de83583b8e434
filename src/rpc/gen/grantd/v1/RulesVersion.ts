// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface RulesVersion {
  'version'?: (number);
  'revision'?: (string);
  'atMs'?: (number | string | Long);
  'actor'?: (string);
  'requestId'?: (string);
  'added'?: (number);
  'removed'?: (number);
}

export interface RulesVersion__Output {
  'version': (number);
  'revision': (string);
  'atMs': (number);
  'actor': (string);
  'requestId': (string);
  'added': (number);
  'removed': (number);
}
