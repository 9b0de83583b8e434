// Original file: proto/grantd/v1/shard.proto

export const Peer = {
  PEER_UNSPECIFIED: 0,
  PEER_FRONT: 1,
  PEER_CONSOLE: 2,
  PEER_SHARD: 3,
} as const;

export type Peer =
  | 'PEER_UNSPECIFIED'
  | 0
  | 'PEER_FRONT'
  | 1
  | 'PEER_CONSOLE'
  | 2
  | 'PEER_SHARD'
  | 3

export type Peer__Output = typeof Peer[keyof typeof Peer]
