// The port of the front, as HTTP and the console see it. A front finds the owner of a tenant, keeps handles, batches
// calls, retries within the deadline and hides every change of owner. Invariant: every error is a GrantdError of the
// catalogue.

import type { CallContext } from '../core/call-context.ts';
import type { FeedFilter } from '../core/change-feed.ts';
import type { KeyId, TenantId } from '../core/ids.ts';
import type { ScopeMask } from '../core/scopes.ts';
import type { Tenant, TenantFilter } from '../core/tenants.ts';
import type { Grant } from '../core/tuples.ts';
import type { NamedTuple } from '../rules/questions.ts';
import type {
  AnswerOf,
  BulkAnswer,
  CallsBy,
  ClusterMember,
  ListedKey,
  LoggedChange,
  ReaderStatus,
  RepairedTime,
  RequestOf,
  RotatedKey,
  ShardCalls,
  ShardLoad,
  SlotStatus,
  TenantCalls,
  TenantProblem,
  TenantStatus,
  TimedAnswer,
  TimeRepair,
  UnderHandle,
  UsageBucket,
} from '../shard/shard.ts';
import type { TraceSpan } from '../telemetry/spans.ts';
import type { ChangesPage, ChangesQuery, FeedFollower, FeedStart, FeedSubscription } from './changes.ts';

export type { ShardLoad, TenantProblem, UsageBucket };

export interface ExplainedAnswer extends TimedAnswer {
  /** A shortest chain of grants from the subject to the object, or the grants of the proof; empty unless authorized. */
  readonly because: readonly Grant[];
  /** Under rules with gates: the proof, as JSON. Otherwise empty. */
  readonly proof: string;
  /** Why it is denied, as JSON; empty if it is authorized. */
  readonly reason: string;
}

export interface LenientAnswer extends BulkAnswer {
  /** Indices of the checks that were denied because no rule defines their name, ascending. */
  readonly undefinedAt: readonly number[];
  /** For the first of these checks, which name may have been meant, and which ones there are. */
  readonly hints: readonly string[];
}

/** A check with a context of its own. */
export type ContextualCheck = NamedTuple & Pick<CallContext, 'context'>;

/** One HTTP request: its id, and when to give up, on the monotonic clock of this process. */
export interface RequestContext {
  /** `req_…` */
  readonly requestId: string;
  readonly deadlineMs: number;
  /** When the whole request had arrived, on the same clock. Absent: it does not count in the load of the shards. */
  readonly arrivedAtMs?: number | undefined;
  /** The span of the request. Absent: it is not traced. */
  readonly span?: TraceSpan | undefined;
  /**
   * Set by a denial or an empty listing: the namespaces that it is about and of which the tenant has neither a grant
   * nor a rule. A hint that comes with the answer, or not at all.
   */
  unknownNamespaces?: readonly string[];
}

/** Calls that a session makes through methods of its own, since they do more. */
type CallWithMethod = 'confirm' | 'checkBulk' | 'checkNamed' | 'createKey' | 'rotateKey' | 'readChanges';
/** A call that a handle of an API key can have the right to make. */
export type TenantCallName = Exclude<CallsBy<TenantCalls, UnderHandle>, CallWithMethod>;
/** A call that the operator's handle has the right to make. */
export type OperatorTenantCallName = Exclude<CallsBy<ShardCalls, UnderHandle>, CallWithMethod>;
/** A call of the operator to the owner of the tenant that the request names. */
export type OwnerCallName = 'readTenant' | 'updateTenant' | 'readUsage' | 'listAuditLog';

/** A request of a session that was refused or failed. */
export interface NotedProblem {
  readonly code: string;
  readonly requestId: string;
  readonly detail: string;
}

/**
 * A tenant as seen with one key (or as the operator). All requests that carry the key share one session. A method
 * throws `unauthorized` if the key has been revoked, and `tenant-suspended` if the tenant has been suspended.
 */
export interface TenantSession {
  readonly tenantId: TenantId;
  readonly keyId: string;
  readonly scopes: ScopeMask;
  /** Whether its key has expired as far as this front can tell by its own clock. Only the owner refuses it. */
  readonly expired: boolean;
  /** Name of the plan as stored; this process may not know that plan. */
  readonly plan: string;
  readonly suspended: boolean;
  /** What the rate limiter knows of the tenant; set by it alone. */
  rateWindow: object | undefined;

  /** Adds one request to the tenant's usage: let through, or refused by the plan's limit. */
  countRequest(refused: boolean): void;
  /** Remembers a request that was refused or failed, for the operators of the tenant. */
  noteProblem(problem: NotedProblem): void;
  /** Makes one call to the owner of the tenant, under the rights of this session. */
  call<Name extends TenantCallName>(
    name: Name,
    context: RequestContext,
    request: RequestOf<Name>,
  ): Promise<AnswerOf<Name>>;
  /** Resolves if the owner would serve this key now. Called before every response that does not come from the owner. */
  confirm(context: RequestContext): Promise<void>;
  /** Rejects with `invalid-relation` for a name that no rule of the tenant defines; so do the others. */
  check(context: RequestContext, check: NamedTuple & CallContext): Promise<TimedAnswer>;
  /** `counts`: in the usage of the tenant; by default, it does. */
  explain(context: RequestContext, check: NamedTuple & CallContext, counts?: boolean): Promise<ExplainedAnswer>;
  checkBulk(context: RequestContext, checks: readonly NamedTuple[], call?: CallContext): Promise<BulkAnswer>;
  /** A bulk check that denies names that no rule of the tenant defines. */
  checkOrDeny(context: RequestContext, checks: readonly ContextualCheck[], call?: CallContext): Promise<LenientAnswer>;
  /** Throws `invalid-cursor`, or `cursor-too-old` with the cursor of the earliest change. */
  readChanges(context: RequestContext, query: ChangesQuery): Promise<ChangesPage>;
  /** Rejects with the error of the first read, so that the response can still have a status. */
  followChanges(start: FeedStart, filter: FeedFilter, follower: FeedFollower): Promise<FeedSubscription>;
  /**
   * Creates the key here; its text leaves this process only in the response. `idempotencyKey`: rejects with
   * `already-created`, or with `idempotency-key-reused`, if a key of the tenant was created with it before.
   */
  createKey(
    context: RequestContext,
    key: { readonly name: string; readonly scopes: ScopeMask; readonly expiresAtMs: number | undefined },
    idempotencyKey?: string,
  ): Promise<{ readonly record: ListedKey; readonly text: string }>;
}

/** A tenant as the operator sees it. */
export interface OperatorTenantSession extends TenantSession {
  call<Name extends OperatorTenantCallName>(
    name: Name,
    context: RequestContext,
    request: RequestOf<Name>,
  ): Promise<AnswerOf<Name>>;
  /**
   * A new key in place of another, which works on for the grace at most. Rejects with `key-not-found`, as
   * `key-not-rotatable`, and for a repeat with an Idempotency-Key as `createKey` does.
   */
  rotateKey(
    context: RequestContext,
    rotation: { readonly keyId: KeyId; readonly graceMs: number },
    idempotencyKey?: string,
  ): Promise<RotatedKey & { readonly text: string }>;
}

/** One slot, as far as it is known now. */
export interface SlotView {
  readonly slot: number;
  /**
   * `opening`, `serving`, `releasing`: as its owner reports. `unclaimed`: it never had an owner. `unowned`: it has none
   * now. `unreachable`: its owner cannot be reached now.
   */
  readonly state: SlotStatus['state'] | 'unclaimed' | 'unowned' | 'unreachable';
  readonly epoch: number | undefined;
  /** Incarnation of the owner. */
  readonly incarnation: string | undefined;
  readonly shardName: string | undefined;
  readonly address: string | undefined;
  readonly leaseLeftMs: number | undefined;
  readonly logEnd: number | undefined;
  readonly checkpoint: number | undefined;
  readonly tenants: number | undefined;
  /** The readers of its tenants at the shards that reply, by tenant and shard. */
  readonly readers: readonly ReaderView[];
}

/** A shard that reads for a tenant beside its owner. */
export interface ReaderView extends Omit<ReaderStatus, 'slot'> {
  readonly shardName: string;
}

export interface MemberView extends ClusterMember {
  /** Undefined: the member cannot be reached now, or needs no lease. */
  readonly leaseLeftMs: number | undefined;
  readonly slotsOwned: number;
}

/** The whole cluster at one moment. */
export interface ClusterPicture {
  readonly slots: readonly SlotView[];
  /** Undefined if no shard could read them. */
  readonly members: readonly MemberView[] | undefined;
  /** Undefined if the shards refuse the call. A shard that does not respond in time is missing. */
  readonly loads: readonly ShardLoad[] | undefined;
}

/** Where an export of the audit log of all tenants begins. Neither: with the oldest change that the logs hold. */
export interface AuditExportQuery {
  readonly cursor?: string | undefined;
  /** Wall clock, ms since the Unix epoch; or only what comes from now on. */
  readonly since?: number | 'now' | undefined;
}

export interface AuditExportPage {
  /** In the order of the log for each tenant. */
  readonly items: readonly LoggedChange[];
  readonly cursor: string;
  /** All slots were read, and no more had been committed. */
  readonly atEnd: boolean;
  /** Slots that could not be read now. They continue with a later page. */
  readonly slotsMissing: number;
}

/** Calls that only an operator may make. `operator` is the name of the token, for the audit log. */
export interface OperatorApi {
  /** A session with all scopes on any tenant, including suspended ones. Throws `tenant-not-found`. */
  tenant(context: RequestContext, tenantId: TenantId, operator: string): Promise<OperatorTenantSession>;
  /**
   * `idempotencyKey`: resolves to the tenant that the operator created with it before, as it is now. Rejects with
   * `idempotency-key-reused` if other fields were asked for, and with `already-created` if it was deleted.
   */
  createTenant(
    context: RequestContext,
    tenant: { name: string; plan: string; operator: string },
    idempotencyKey?: string,
  ): Promise<Tenant>;
  /** Makes one call to the owner of the tenant that the request names. */
  call<Name extends OwnerCallName>(
    name: Name,
    context: RequestContext,
    request: RequestOf<Name>,
  ): Promise<AnswerOf<Name>>;
  /**
   * Tenants of the whole cluster that fit the filter, ascending by id, after `after`. With a filter, a page may hold
   * fewer than `limit`, or none, although more follow.
   */
  listTenants(
    context: RequestContext,
    query: TenantFilter & { readonly after: TenantId | undefined; readonly limit: number },
  ): Promise<{ readonly tenants: readonly TenantStatus[]; readonly next: TenantId | undefined }>;
  /**
   * The audit log of all tenants, also of deleted ones, for as long as the logs of the slots are kept. Throws
   * `invalid-cursor`, or `cursor-too-old` with the earliest cursor.
   */
  exportAuditLog(context: RequestContext, query: AuditExportQuery): Promise<AuditExportPage>;
  /** Every slot of the cluster, ascending. A shard that does not reply within a second delays only its own slots. */
  listSlots(context: RequestContext): Promise<readonly SlotView[]>;
  /** At the owner of the slot, if there is such a slot. It does a part of the work that takes a second or two. */
  repairTime(context: RequestContext, request: TimeRepair): Promise<RepairedTime>;
  listMembers(context: RequestContext): Promise<readonly MemberView[]>;
  /** Loads of all shards that reply within a second. */
  listLoads(context: RequestContext): Promise<readonly ShardLoad[]>;
  /** Slots, members and loads, in fewer calls than separately. Rejects if no shard responds. */
  surveyCluster(context: RequestContext): Promise<ClusterPicture>;
}

export interface Front {
  /**
   * The session of an API key; synchronous if the key is known here. Throws `unauthorized` (for junk without any I/O),
   * or `unavailable` if the owner cannot verify the key now. `admit` runs before the owner is asked, so only for a
   * well-formed key that is not known here; it may throw. It does not run for a key that was known here until lately,
   * nor for one about which the owner is being asked already.
   */
  authenticate<Context extends RequestContext>(
    context: Context,
    apiKey: string,
    admit?: (context: Context, apiKey: string) => void,
  ): TenantSession | Promise<TenantSession>;
  /** Whether every slot has an owner that this front can reach. */
  ready(): boolean;
  close(): Promise<void>;
}
