// The public exports of the package @grantd/client.

export {
  type CallContext,
  type CheckOptions,
  type Explanation,
  Grantd,
  type GrantPage,
  type GrantsQuery,
  type ListOptions,
  type ObjectsQuery,
  type RevisedRules,
  type SubjectPage,
  type SubjectsQuery,
  type WrittenNamespace,
} from './client.ts';
export { type ClientErrorType, type ErrorType, GrantdError, type ServiceErrorType } from './error.ts';
export type { ChangePage, Changes, ChangesQuery, FeedChange, PageOptions } from './feed.ts';
export type * from './generated/schemas.ts';
export type { Listing, Page } from './listing.ts';
export type { GrantdOptions } from './options.ts';
export type { CallFacts, CallHook, CallOptions } from './transport.ts';
export type { GrantdFor, Model } from './typed.ts';
