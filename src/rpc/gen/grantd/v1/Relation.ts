// Original file: proto/grantd/v1/shard.proto

export const Relation = {
  RELATION_UNSPECIFIED: 0,
  RELATION_OWNER: 1,
  RELATION_ADMIN: 2,
  RELATION_MANAGER: 3,
  RELATION_EDITOR: 4,
  RELATION_COMMENTER: 5,
  RELATION_VIEWER: 6,
  RELATION_MEMBER: 7,
  RELATION_GUEST: 8,
  RELATION_PARENT: 9,
} as const;

export type Relation =
  | 'RELATION_UNSPECIFIED'
  | 0
  | 'RELATION_OWNER'
  | 1
  | 'RELATION_ADMIN'
  | 2
  | 'RELATION_MANAGER'
  | 3
  | 'RELATION_EDITOR'
  | 4
  | 'RELATION_COMMENTER'
  | 5
  | 'RELATION_VIEWER'
  | 6
  | 'RELATION_MEMBER'
  | 7
  | 'RELATION_GUEST'
  | 8
  | 'RELATION_PARENT'
  | 9

export type Relation__Output = typeof Relation[keyof typeof Relation]
