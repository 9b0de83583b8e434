// The public exports of the package @grantd/client.

export {
  type BulkCheckRequest,
  type CallContext,
  type CheckRequest,
  type Explanation,
  Grantd,
  type GrantPage,
  type GrantsQuery,
  type JoinQuery,
  type KeyCreation,
  type KeysQuery,
  type ObjectsQuery,
  type RevisedRules,
  type RulesChange,
  type RulesText,
  type SnapshotPage,
  type SnapshotQuery,
  type SubjectPage,
  type SubjectsQuery,
  type WrittenNamespace,
} from './client.ts';
export { type ClientErrorType, type ErrorType, GrantdError, type ServiceErrorType } from './error.ts';
export type { ChangePage, ChangePageQuery, Changes, ChangesQuery, FeedChange, FeedCheckpoint } from './feed.ts';
export { type Filter, type FilterOptions, MirrorError, type MirrorReason } from './filter.ts';
export type * from './generated/schemas.ts';
export type { Listing, Page } from './listing.ts';
export type { Logger } from './log.ts';
export type { GrantdOptions } from './options.ts';
export type { CallFacts, CallHook, CallOptions } from './transport.ts';
export type { GrantdFor, Model } from './typed.ts';
