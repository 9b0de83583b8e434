// Original file: proto/grantd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface LogEnds {
  'slots'?: (number)[];
  'firsts'?: (number | string | Long)[];
  'lasts'?: (number | string | Long)[];
  'cursorKeys'?: (string)[];
}

export interface LogEnds__Output {
  'slots': (number)[];
  'firsts': (number)[];
  'lasts': (number)[];
  'cursorKeys': (string)[];
}
