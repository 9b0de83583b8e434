// Original file: proto/grantd/v1/shard.proto

export const FailureKind = {
  FAILURE_UNSPECIFIED: 0,
  FAILURE_ERROR: 1,
  FAILURE_WRONG_OWNER: 2,
  FAILURE_NOT_SERVING: 3,
  FAILURE_HANDLE_UNKNOWN: 4,
  FAILURE_EXPIRED: 5,
  FAILURE_UNDECIDED: 6,
} as const;

export type FailureKind =
  | 'FAILURE_UNSPECIFIED'
  | 0
  | 'FAILURE_ERROR'
  | 1
  | 'FAILURE_WRONG_OWNER'
  | 2
  | 'FAILURE_NOT_SERVING'
  | 3
  | 'FAILURE_HANDLE_UNKNOWN'
  | 4
  | 'FAILURE_EXPIRED'
  | 5
  | 'FAILURE_UNDECIDED'
  | 6

export type FailureKind__Output = typeof FailureKind[keyof typeof FailureKind]
