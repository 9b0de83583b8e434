// Original file: proto/grantd/v1/shard.proto

import type { FeedEntry as _grantd_v1_FeedEntry, FeedEntry__Output as _grantd_v1_FeedEntry__Output } from '../../grantd/v1/FeedEntry.ts';
import type { Long } from '@grpc/proto-loader';

export interface Changes {
  'entries'?: (_grantd_v1_FeedEntry)[];
  'nextCursor'?: (string);
  'nextSeq'?: (number | string | Long);
  'nextIndex'?: (number);
  'atMs'?: (number | string | Long);
  'atEnd'?: (boolean);
}

export interface Changes__Output {
  'entries': (_grantd_v1_FeedEntry__Output)[];
  'nextCursor': (string);
  'nextSeq': (number);
  'nextIndex': (number);
  'atMs': (number);
  'atEnd': (boolean);
}
