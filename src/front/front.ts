// The port of the front, as HTTP and the console see it. It finds the owner of a tenant, keeps handles, coalesces,
// retries inside the deadline and hides every change of owner. Errors are GrantdError of the catalogue and nothing
// else.

import type { KeyId, TenantId } from '../core/ids.ts';
import type { ScopeMask } from '../core/scopes.ts';
import type { Tenant } from '../core/tenants.ts';
import type { Grant, Namespace, Tuple } from '../core/tuples.ts';
import type {
  AuditLogPage,
  AuditLogQuery,
  ClusterMember,
  GrantRequest,
  GrantResult,
  GrantsQuery,
  HoldersQuery,
  ListedKey,
  Load,
  ObjectsQuery,
  PageQuery,
  ResultPage,
  SlotStatus,
  TenantStatus,
  UsageMinute,
} from '../shard/shard.ts';
import type { TraceSpan } from '../telemetry/spans.ts';

export type { UsageMinute };

/** Of one HTTP request: its id, and when to give up on the monotonic clock of this process. */
export interface RequestContext {
  /** `req_…` */
  readonly requestId: string;
  readonly deadlineMs: number;
  /** When it had arrived whole, on the same clock: for the load of the shards. Absent: it does not count. */
  readonly arrivedAtMs?: number | undefined;
  /** That it is traced in; absent: it is not. */
  readonly span?: TraceSpan | undefined;
}

/**
 * A tenant as seen with one key (or as the operator). Kept and shared by all requests that carry the key: a method
 * that finds the key revoked throws `unauthorized`, the tenant suspended since `tenant-suspended`.
 */
export interface TenantSession {
  readonly tenantId: TenantId;
  readonly keyId: string;
  readonly scopes: ScopeMask;
  /** The stored name; may be unknown to this process. */
  readonly plan: string;
  readonly suspended: boolean;

  /** A request of the tenant that its plan's limit has let through or refused: for its usage. */
  countRequest(refused: boolean): void;
  /** Resolves where the owner would serve this key now. Asked before every answer that does not come from the owner. */
  confirm(context: RequestContext): Promise<void>;
  check(context: RequestContext, tuple: Tuple): Promise<{ readonly authorized: boolean; readonly checkedAtMs: number }>;
  checkBulk(
    context: RequestContext,
    checks: readonly Tuple[],
  ): Promise<{ readonly authorized: readonly boolean[]; readonly checkedAtMs: number }>;
  writeGrants(context: RequestContext, writes: readonly GrantRequest[]): Promise<readonly GrantResult[]>;
  listObjects(context: RequestContext, query: ObjectsQuery): Promise<ResultPage<string>>;
  listHolders(context: RequestContext, query: HoldersQuery): Promise<ResultPage<string>>;
  listGrants(context: RequestContext, query: GrantsQuery): Promise<ResultPage<Grant>>;
  listNamespaces(context: RequestContext): Promise<readonly Namespace[]>;
  createNamespace(
    context: RequestContext,
    name: string,
  ): Promise<{ readonly created: boolean; readonly namespace: Namespace }>;
  /** Makes the key here; its text leaves this process only in the answer. */
  createKey(
    context: RequestContext,
    key: { readonly name: string; readonly scopes: ScopeMask; readonly expiresAtMs: number | undefined },
  ): Promise<{ readonly record: ListedKey; readonly text: string }>;
  listKeys(context: RequestContext, query: PageQuery): Promise<ResultPage<ListedKey>>;
  revokeKey(context: RequestContext, keyId: KeyId): Promise<void>;
}

/** A tenant as the operator sees it. */
export interface OperatorTenantSession extends TenantSession {
  listSubjects(context: RequestContext, query: PageQuery): Promise<ResultPage<string>>;
  exportGrants(context: RequestContext, query: PageQuery): Promise<ResultPage<Grant>>;
}

/** One slot, as far as it is known now. */
export interface SlotView {
  readonly slot: number;
  /**
   * `opening`, `serving`, `releasing`: as its owner says. `unclaimed`: it never had an owner. `unowned`: it has none
   * now. `unreachable`: its owner cannot be asked now.
   */
  readonly state: SlotStatus['state'] | 'unclaimed' | 'unowned' | 'unreachable';
  readonly epoch: number | undefined;
  /** Of its owner. */
  readonly incarnation: string | undefined;
  readonly shardName: string | undefined;
  readonly address: string | undefined;
  readonly leaseLeftMs: number | undefined;
  readonly logEnd: number | undefined;
  readonly checkpoint: number | undefined;
  readonly tenants: number | undefined;
}

export interface MemberView extends ClusterMember {
  /** Undefined: it cannot be asked now, or needs none. */
  readonly leaseLeftMs: number | undefined;
  readonly slotsOwned: number;
}

/** What fronts asked of one shard, as they saw it. */
export interface ShardLoad extends Load {
  readonly shardName: string;
}

/** The whole cluster at one moment. */
export interface ClusterPicture {
  readonly slots: readonly SlotView[];
  /** Undefined where no shard could read them. */
  readonly members: readonly MemberView[] | undefined;
  /** Undefined where no shard may be asked for them; a shard that does not respond in time is missing. */
  readonly loads: readonly ShardLoad[] | undefined;
}

/** What only the operator may ask. `operator` is the name of the token, for the audit log. */
export interface OperatorApi {
  /** All scopes, on any tenant, suspended ones too. Throws `tenant-not-found`. */
  tenant(context: RequestContext, tenantId: TenantId, operator: string): Promise<OperatorTenantSession>;
  createTenant(context: RequestContext, tenant: { name: string; plan: string; operator: string }): Promise<Tenant>;
  updateTenant(
    context: RequestContext,
    change: {
      tenantId: TenantId;
      name?: string | undefined;
      plan?: string | undefined;
      state?: 'active' | 'suspended' | 'deleting' | undefined;
      operator: string;
    },
  ): Promise<Tenant>;
  readTenant(context: RequestContext, tenantId: TenantId): Promise<TenantStatus>;
  /**
   * Of the whole cluster, ascending by id, after `after`. `name`: only those with this in their name or id, in any
   * case; a page may then hold fewer than `limit`, or none, although more follow.
   */
  listTenants(
    context: RequestContext,
    query: { after: TenantId | undefined; limit: number; name?: string | undefined },
  ): Promise<{ readonly tenants: readonly TenantStatus[]; readonly next: TenantId | undefined }>;
  /**
   * Every change of a tenant. Of one that was deleted, too, for as long as its audit log is kept; else
   * `tenant-not-found`.
   */
  listAuditLog(context: RequestContext, tenantId: TenantId, query: AuditLogQuery): Promise<AuditLogPage>;
  /** Every slot of the cluster, ascending. A shard that does not answer within a second delays no other's slots. */
  listSlots(context: RequestContext): Promise<readonly SlotView[]>;
  listMembers(context: RequestContext): Promise<readonly MemberView[]>;
  /**
   * The last 60 minutes, ascending; minutes without a request are left out. Kept by the owner in memory: may be lost.
   */
  readUsage(context: RequestContext, tenantId: TenantId): Promise<readonly UsageMinute[]>;
  /** Of every shard that answers within a second. */
  listLoads(context: RequestContext): Promise<readonly ShardLoad[]>;
  /** What the three listings above say, for fewer questions. Rejects where no shard responds. */
  surveyCluster(context: RequestContext): Promise<ClusterPicture>;
}

export interface Front {
  /**
   * The session of an API key; at once where the key is known here. Throws `unauthorized` (junk without any I/O) or
   * `unavailable` where the owner cannot verify it now. `admit` is asked before the owner is, and may throw: so only
   * for a well-formed key that is not known here.
   */
  authenticate<Context extends RequestContext>(
    context: Context,
    apiKey: string,
    admit?: (context: Context) => void,
  ): TenantSession | Promise<TenantSession>;
  /** Whether every slot has an owner that this front can reach. */
  ready(): boolean;
  close(): Promise<void>;
}
