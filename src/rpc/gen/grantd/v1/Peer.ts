// Original file: proto/grantd/v1/shard.proto

export const Peer = {
  PEER_UNSPECIFIED: 0,
  PEER_FRONT: 1,
  PEER_CONSOLE: 2,
} as const;

export type Peer =
  | 'PEER_UNSPECIFIED'
  | 0
  | 'PEER_FRONT'
  | 1
  | 'PEER_CONSOLE'
  | 2

export type Peer__Output = typeof Peer[keyof typeof Peer]
