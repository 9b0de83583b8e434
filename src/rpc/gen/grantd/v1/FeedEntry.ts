// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface FeedEntry {
  'seq'?: (number | string | Long);
  'index'?: (number);
  'atMs'?: (number | string | Long);
  'actor'?: (string);
  'requestId'?: (string);
  'change'?: (string);
  'cursor'?: (string);
}

export interface FeedEntry__Output {
  'seq': (number);
  'index': (number);
  'atMs': (number);
  'actor': (string);
  'requestId': (string);
  'change': (string);
  'cursor': (string);
}
