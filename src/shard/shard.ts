// The port of a shard, as its gRPC server sees it: one connection per peer, one method per call. All decisions of a
// shard are behind it. A method fails with an error of the catalogue or with a ShardFailure, which says what the front
// should do next.

import type { TenantId } from '../core/ids.ts';
import type { Scope, ScopeMask } from '../core/scopes.ts';
import type { Tenant } from '../core/tenants.ts';
import type { Namespace, TupleColumns } from '../core/tuples.ts';
import type { RuleSet } from '../rules/rule-set.ts';
import type { RulesPreview, RulesRequest } from '../rules/rules-writes.ts';
import type { AuditLogPage, AuditLogQuery } from './audit-log-calls.ts';
import type { BulkAnswer, CheckAnswer, NamedAnswer, NamedChecks, NamesQuery } from './check-calls.ts';
import type { FeedPage, FeedQuery } from './feed-calls.ts';
import type {
  BulkWrite,
  BulkWriteResult,
  GrantFilter,
  GrantRequest,
  GrantResult,
  GrantsPage,
  GrantsQuery,
  HoldersQuery,
  ObjectsQuery,
  PageQuery,
  ResultPage,
  RevokeResult,
} from './grant-calls.ts';
import type { IdentifiedKey, KeyClaim, ListedKey, NewKey, RotatedKey, RotationRequest } from './key-calls.ts';
import type { LogEnds, LoggedPage, LogQuery } from './log-calls.ts';

export type { RulesPreview, RulesRequest } from '../rules/rules-writes.ts';
export type * from './audit-log-calls.ts';
export type * from './check-calls.ts';
export type * from './feed-calls.ts';
export type * from './grant-calls.ts';
export type * from './key-calls.ts';
export type * from './log-calls.ts';

export type ShardFailureKind =
  /** Another shard owns the slot; `owner` names it where known. */
  | 'wrong-owner'
  /** The owner cannot answer yet, or no longer. It did nothing. */
  | 'not-serving'
  /** The handle is unknown: its key was revoked or changed, or its tenure has ended. Authenticate again. */
  | 'handle-unknown'
  /** The attempt arrived after its expiry. The owner did nothing. */
  | 'expired'
  /** The tenure ended while the write was in flight. Repeating the same operation returns its outcome. */
  | 'undecided';

export interface SlotOwner {
  readonly slot: number;
  readonly epoch: number;
  readonly incarnation: string;
  /** host:port; empty: unknown. */
  readonly address: string;
}

export class ShardFailure extends Error {
  readonly kind: ShardFailureKind;
  readonly owner: SlotOwner | undefined;

  constructor(kind: ShardFailureKind, message: string, owner?: SlotOwner) {
    super(message);
    this.name = 'ShardFailure';
    this.kind = kind;
    this.owner = owner;
  }
}

/** Identifies a write; the same for all its attempts. Item i of a call is the operation (requestId, i). */
export interface Attempt {
  readonly requestId: string;
  /** On the shard's monotonic clock, ms; the owner rejects the write after that. */
  readonly expiresAtMs: number;
}

export interface IssuedHandle {
  /** 1 and up. Valid on this connection and in this tenure; a connection never reuses a number. */
  readonly handle: number;
  readonly tenantId: TenantId;
  readonly keyId: string;
  readonly scopes: ScopeMask;
  /** Wall clock, ms; undefined: never. */
  readonly expiresAtMs: number | undefined;
  readonly plan: string;
  readonly suspended: boolean;
}

export interface SlotStatus {
  readonly slot: number;
  readonly epoch: number;
  readonly state: 'opening' | 'serving' | 'releasing';
  /** Seq of the last log entry. */
  readonly logEnd: number;
  /** Last seq that the state tables contain. */
  readonly checkpoint: number;
  readonly tenants: number;
}

/** The owner of a slot when this shard last read its row. */
export interface SlotClaim {
  readonly slot: number;
  readonly epoch: number;
  /** The owner's incarnation; undefined after a release. */
  readonly owner: string | undefined;
}

/** What one shard knows about the slots of the cluster. */
export interface SlotsReport {
  readonly incarnation: string;
  /**
   * Milliseconds for which the shard may still answer without hearing from the store. 0: it may not answer; undefined:
   * it needs no lease.
   */
  readonly leaseLeftMs: number | undefined;
  /** The slots that this shard owns. */
  readonly owned: readonly SlotStatus[];
  /** Every slot of the cluster that was ever claimed, as last seen; may be out of date. */
  readonly rows: readonly SlotClaim[];
}

/** A tenant record with what its owner knows about the tenant. */
export interface TenantStatus extends Tenant {
  /** Live rows; undefined: currently unknown. */
  readonly counts?: TenantCounts | undefined;
  /** Undefined: the tenant is being deleted. */
  readonly grants?: TenantGrants | undefined;
  /** Set while the tenant is being deleted. */
  readonly deletion?: TenantDeletion | undefined;
  /** Only in listings: the last whole minute, zeros included. Undefined: the owner does not tell. */
  readonly lastMinute?: UsageMinute | undefined;
}

export interface TenantCounts {
  readonly namespaces: number;
  readonly keys: number;
}

export interface TenantGrants {
  /** Live grants. */
  readonly grants: number;
  /** UTF-8 bytes of their subjects, relations and objects. */
  readonly bytes: number;
}

/** Progress of the removal of a tenant's data, since its owner started or resumed it. */
export interface TenantDeletion {
  /** Bounded parts, each of up to a few hundred subjects or a thousand rows. */
  readonly partsRemoved: number;
  /** Wall clock, ms; undefined: none yet. */
  readonly lastPartAtMs: number | undefined;
}

/** One minute of a tenant's requests. */
export interface UsageMinute {
  /** Start of the minute, milliseconds since 1970, a multiple of 60,000. */
  readonly atMs: number;
  readonly requests: number;
  /** Requests that the rate limit refused. */
  readonly refused: number;
  readonly checks: number;
  /** The tenant's plan in that minute, and thus the limit; undefined: not known. */
  readonly plan?: string | undefined;
}

/** The load that fronts put on a shard over the last ten seconds. */
export interface Load {
  readonly checksPerSecond: number;
  /** Responses with a status of 500 and above. */
  readonly failuresPerSecond: number;
  /** Latency of checks; undefined: there were none. */
  readonly p99Ms: number | undefined;
}

/** What a front has counted since its last report. Only the shape is validated: any number may be wrong. */
export interface FrontReport {
  readonly load:
    | {
        readonly elapsedMs: number;
        readonly checks: number;
        readonly failures: number;
        /** One count per bucket of the latency histogram. */
        readonly latencies: readonly number[];
      }
    | undefined;
  readonly usage: readonly TenantUsageReport[];
}

export interface TenantUsageReport {
  readonly slot: number;
  readonly tenantId: string;
  /** Minutes since 1970, by the front's clock. */
  readonly minute: number;
  readonly requests: number;
  readonly refused: number;
  readonly checks: number;
}

export interface Routes {
  /** The slots that this shard serves: slot → epoch. */
  readonly epochs: ReadonlyMap<number, number>;
  /** The other living members that this shard knows. Fronts look for the other slots there. */
  readonly members?: readonly MemberAddress[];
}

/** A member as operators see it. Its health is internal to the shards. */
export interface ClusterMember {
  /** `inc_…`: one run of a shard process. */
  readonly incarnation: string;
  readonly shardName: string;
  /** host:port of its gRPC server. */
  readonly address: string;
  /** `draining`: alive, hands its slots over and gets no new ones. `dead` is final. */
  readonly state: 'alive' | 'draining' | 'dead';
  /** Grows with every heartbeat that the member attempts. */
  readonly heartbeat: number;
  /** Wall clock, ms since the Unix epoch. */
  readonly startedAtMs: number;
}

export interface MemberAddress {
  readonly shardName: string;
  /** host:port */
  readonly address: string;
}

export interface ShardWelcome {
  /**
   * At the time of the welcome: a shard that was declared dead rejoins as a new incarnation, on the same connections.
   */
  readonly incarnation: string;
  readonly shardName: string;
  readonly slots: number;
  readonly deadlineMs: number;
  readonly leaseMs: number;
}

/**
 * The right that a call requires of its handle: a scope; `operator-handle`: what no key allows; `handle`: nothing more.
 */
export type HandleRight = Scope | 'handle' | 'operator-handle';

/** The calls of tenants, open to every peer. Every method throws (or rejects with) ShardFailure or GrantdError. */
export interface TenantConnection {
  /** `key`: the full key. The stored hash does not authenticate. */
  authenticate(claim: { tenantId: string; keyId: string; key: string }): Promise<IssuedHandle>;
  /** The tenant of a handle; empty if the handle is unknown. */
  tenantOf(handle: number): string;
  /**
   * Throws `insufficient-scope` if the handle lacks the right. Call it right before every call under a handle, tenant
   * or operator, except `check`, which verifies the scope itself.
   */
  demandRight(handle: number, right: HandleRight): void;
  /** Resolves if a request under this handle would be served now. */
  confirm(handle: number): Promise<void>;
  /** Answers synchronously if memory decides. `relation` is a wire number. */
  check(handle: number, subject: string, relation: number, object: string): CheckAnswer | Promise<CheckAnswer>;
  /** All checks at one moment of the tenant's history, in order. At most 100. */
  checkBulk(handle: number, checks: TupleColumns): Promise<BulkAnswer>;
  /**
   * Checks by name, all at one moment. Rejects as `invalid-relation` for a name that no rule of the tenant defines,
   * unless it is to be denied, and as `evaluation-too-large`.
   */
  checkNamed(handle: number, checks: NamedChecks): Promise<NamedAnswer>;
  /** The names that the subject holds on the object, of those that are actions there; all of a page at one moment. */
  listNames(handle: number, query: NamesQuery): Promise<ResultPage<string>>;
  /** At most 1,000 writes, decided in order, each its own operation. Resolves once all are durable. */
  writeGrants(handle: number, attempt: Attempt, writes: readonly GrantRequest[]): Promise<readonly GrantResult[]>;
  /** One operation. Resolves once it is durable. */
  writeBulk(handle: number, attempt: Attempt, write: BulkWrite): Promise<BulkWriteResult>;
  /**
   * One operation: revokes up to 1,000 grants that match at one moment. By object, it rejects as `unavailable` until
   * every grant of the tenant has its row by object.
   */
  revokeGrants(handle: number, attempt: Attempt, filter: GrantFilter): Promise<RevokeResult>;
  listObjects(handle: number, query: ObjectsQuery): Promise<ResultPage<string>>;
  /** Rejects as `unavailable` until every grant of the tenant has its row by object. */
  listHolders(handle: number, query: HoldersQuery): Promise<ResultPage<string>>;
  /** The live grants of a subject or on an object, ascending by the bytes of (relation, object or subject). */
  listGrants(handle: number, query: GrantsQuery): Promise<GrantsPage>;
  listNamespaces(handle: number): Promise<readonly Namespace[]>;
  /** Of the namespaces, those of which the tenant has no grant and no rule, and which nobody created. */
  unknownNamespaces(handle: number, namespaces: readonly string[]): Promise<readonly string[]>;
  createNamespace(handle: number, attempt: Attempt, name: string): Promise<{ created: boolean; namespace: Namespace }>;
  createKey(handle: number, attempt: Attempt, key: NewKey): Promise<ListedKey>;
  listKeys(handle: number, query: PageQuery): Promise<ResultPage<ListedKey>>;
  revokeKey(handle: number, attempt: Attempt, keyId: string): Promise<void>;
  readRules(handle: number): Promise<RuleSet>;
  /** One operation. Rejects as `precondition-failed` if the rules that it would replace do not match. */
  writeRules(handle: number, attempt: Attempt, request: RulesRequest): Promise<void>;
  /** What the write would change. Changes nothing. */
  previewRules(handle: number, request: RulesRequest): Promise<RulesPreview>;

  /**
   * A page of the change feed. Rejects as `cursor-too-old` with the earliest cursor, and as `overloaded` if too many
   * calls wait for changes.
   */
  readChanges(handle: number, query: FeedQuery): Promise<FeedPage>;
  /** Calls that wait for changes are answered now; later ones do not wait. */
  endWaits(): void;

  /** Clamps or drops values that cannot be right. */
  report(report: FrontReport): void;

  /** The peer has disconnected: all its handles end, including operator handles. */
  close(): void;
}

/** The operator's calls: only a console has them. The console gets `not-found` as `tenant-not-found`. */
export interface OperatorConnection {
  authenticateOperator(claim: { tenantId: string; operator: string }): Promise<IssuedHandle>;
  createTenant(
    attempt: Attempt,
    tenant: { tenantId: string; name: string; plan: string; operator: string },
  ): Promise<Tenant>;
  updateTenant(
    attempt: Attempt,
    change: {
      tenantId: string;
      name?: string | undefined;
      plan?: string | undefined;
      state?: 'active' | 'suspended' | 'deleting' | undefined;
      operator: string;
    },
  ): Promise<Tenant>;
  readTenant(tenantId: string): Promise<TenantStatus>;
  /** The last 60 minutes, ascending; omits minutes without requests. */
  readUsage(tenantId: string): Promise<readonly UsageMinute[]>;
  /** The tenants that this shard serves, without deleted ones, ascending by id, after `after`. */
  listTenants(query: { after: string | undefined; limit: number }): Promise<readonly TenantStatus[]>;
  /**
   * The same, but only tenants whose name or id contains `name` (case-insensitive). `scannedTo`: where the search
   * stopped if it did not look at all tenants; such a page may be empty.
   */
  findTenants(query: {
    name: string;
    after: string | undefined;
    limit: number;
  }): Promise<{ readonly tenants: readonly TenantStatus[]; readonly scannedTo: TenantId | undefined }>;
  /** Every subject that has a grant, and some that had one earlier; ascending by bytes. */
  listSubjects(handle: number, query: PageQuery): Promise<ResultPage<string>>;
  /** One operation. Rejects as `key-not-rotatable` and `key-not-found`, and for a repeat as `createKey` does. */
  rotateKey(handle: number, attempt: Attempt, request: RotationRequest): Promise<RotatedKey>;
  /** Undefined: the tenant has no such key now. */
  identifyKey(handle: number, claim: KeyClaim): Promise<IdentifiedKey | undefined>;
  /** Ordered by (seq, index). Also works for a deleted tenant, for as long as its audit log is kept. */
  listAuditLog(query: AuditLogQuery & { readonly tenantId: string }): Promise<AuditLogPage>;
  /** The logs of the slots that this shard serves. */
  listLogEnds(): Promise<LogEnds>;
  /**
   * The changes of all tenants of a slot, from its log. Rejects as `cursor-too-old` if the log no longer has all of
   * them after that place, and as `invalid-cursor` if the place is ahead of the log.
   */
  readLog(query: LogQuery): Promise<LoggedPage>;
  /** Every live grant, ascending by (subject, relation, object) in bytes. */
  exportGrants(handle: number, query: PageQuery): Promise<GrantsPage>;
  listSlots(): Promise<SlotsReport>;
  listMembers(): Promise<readonly ClusterMember[]>;
  readLoad(): Promise<Load>;
}

/** The connection of a console: a handle from either part is valid on both. */
export interface ConsoleConnection {
  readonly tenant: TenantConnection;
  readonly operator: OperatorConnection;
}

export interface Shard {
  welcome(): ShardWelcome;
  /** Milliseconds on the clock by which attempts expire. */
  monotonicMs(): number;
  connect(): TenantConnection;
  /** For a peer that has proved to be a console. */
  connectConsole(): ConsoleConnection;
  routes(): Routes;
  /** Calls `onChange` at every change of `routes()`, until the returned function is called. */
  watchRoutes(onChange: () => void): () => void;
}
