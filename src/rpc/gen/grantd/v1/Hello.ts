// Original file: proto/grantd/v1/shard.proto

import type { Peer as _grantd_v1_Peer, Peer__Output as _grantd_v1_Peer__Output } from '../../grantd/v1/Peer.ts';

export interface Hello {
  'version'?: (string);
  'name'?: (string);
  'peer'?: (_grantd_v1_Peer);
  'slots'?: (number);
  'clusterId'?: (string);
}

export interface Hello__Output {
  'version': (string);
  'name': (string);
  'peer': (_grantd_v1_Peer__Output);
  'slots': (number);
  'clusterId': (string);
}
