// Original file: proto/grantd/v1/shard.proto

export const GrantOutcome = {
  GRANT_UNSPECIFIED: 0,
  GRANT_CREATED: 1,
  GRANT_EXISTS: 2,
  GRANT_REVOKED: 3,
  GRANT_NOT_FOUND: 4,
  GRANT_REFUSED: 5,
} as const;

export type GrantOutcome =
  | 'GRANT_UNSPECIFIED'
  | 0
  | 'GRANT_CREATED'
  | 1
  | 'GRANT_EXISTS'
  | 2
  | 'GRANT_REVOKED'
  | 3
  | 'GRANT_NOT_FOUND'
  | 4
  | 'GRANT_REFUSED'
  | 5

export type GrantOutcome__Output = typeof GrantOutcome[keyof typeof GrantOutcome]
