// The port of a shard, as its gRPC server sees it: one connection per peer, one method per verb. Everything a shard
// decides is behind it. Failures other than those of the catalogue are ShardFailure: they tell a front what to do next.

import type { AuditFilter } from '../core/audit-filter.ts';
import type { GrantAttributes } from '../core/grant-attributes.ts';
import type { KeyId, TenantId } from '../core/ids.ts';
import type { Scope, ScopeMask } from '../core/scopes.ts';
import type { Tenant } from '../core/tenants.ts';
import type { Grant, Namespace, Relation, Tuple, TupleColumns } from '../core/tuples.ts';

export type ShardFailureKind =
  /** Another shard owns the slot; `owner` names it where known. */
  | 'wrong-owner'
  /** The owner cannot answer yet, or not any more. Nothing was done. */
  | 'not-serving'
  /** The handle is unknown: its key was revoked or changed, or its tenure has ended. Authenticate again. */
  | 'handle-unknown'
  /** The attempt arrived after its expiry. Nothing was done. */
  | 'expired'
  /** The tenure ended while the write was in flight. A repeat of the same operation finds out what became of it. */
  | 'undecided';

export interface SlotOwner {
  readonly slot: number;
  readonly epoch: number;
  readonly incarnation: string;
  /** host:port; empty: not known. */
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

/** Of a write; the same over all its tries. Item i of a call is the operation (requestId, i). */
export interface Attempt {
  readonly requestId: string;
  /** On the monotonic clock of the shard, ms; the owner drops a later arrival. */
  readonly expiresAtMs: number;
}

export interface IssuedHandle {
  /** Valid on this connection, in this tenure; never used again on the connection. 1 and up. */
  readonly handle: number;
  readonly tenantId: TenantId;
  readonly keyId: string;
  readonly scopes: ScopeMask;
  /** Wall clock, ms; undefined: never. */
  readonly expiresAtMs: number | undefined;
  readonly plan: string;
  readonly suspended: boolean;
}

export interface GrantRequest extends Tuple {
  readonly revoke: boolean;
}

export type GrantResult =
  | ({ readonly kind: 'created' | 'exists' } & GrantAttributes)
  | { readonly kind: 'revoked' }
  | { readonly kind: 'not-found' }
  /** This one was refused; the others of the call stand. */
  | { readonly kind: 'refused'; readonly code: GrantRefusal; readonly message: string };

export type GrantRefusal = 'namespace-limit-reached' | 'grant-limit-reached';

/** May have fewer than `limit`, even none, although more follow. */
export interface ResultPage<Item> {
  readonly items: readonly Item[];
  /** Where to go on; undefined at the end. */
  readonly nextCursor: string | undefined;
}

export interface PageQuery {
  readonly limit: number;
  readonly cursor: string | undefined;
}

export interface AuditLogQuery extends PageQuery, AuditFilter {
  readonly newestFirst?: boolean | undefined;
  /** Only changes made at or after; wall clock, ms since the Unix epoch. */
  readonly sinceMs?: number | undefined;
  /** Only changes made before. */
  readonly untilMs?: number | undefined;
}

/** What happened to a tenant, when and by whom. */
export interface AuditRecord {
  /** (seq, index) orders the changes of a tenant. */
  readonly seq: number;
  readonly index: number;
  /** Wall clock, ms since the Unix epoch. */
  readonly atMs: number;
  /** A key id, or `operator:<name>`. */
  readonly actor: string;
  /** `req_…` */
  readonly requestId: string;
  /** What changed, as JSON text of at most 8 KiB: `{"action": "grant.created", …}`. */
  readonly change: string;
}

export interface AuditLogPage extends ResultPage<AuditRecord> {
  /**
   * Where the changes that are still to come will begin, oldest first, when everything until now has been given: on the
   * last page, or on the first one of newest first. Undefined on others, where the range of time ends, and where the
   * tenant is deleted.
   */
  readonly resumeCursor: string | undefined;
  /**
   * Of a page that ended before it was full, because enough was read for it: when the last change was made that was
   * looked at. Wall clock, ms since the Unix epoch.
   */
  readonly scannedToMs?: number | undefined;
}

export interface ListedKey {
  readonly keyId: KeyId;
  readonly name: string;
  readonly scopes: ScopeMask;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | undefined;
  readonly lastUsedAtMs: number | undefined;
}

export interface SlotStatus {
  readonly slot: number;
  readonly epoch: number;
  readonly state: 'opening' | 'serving' | 'releasing';
  /** Last seq of the log. */
  readonly logEnd: number;
  /** Last seq that the state tables hold. */
  readonly checkpoint: number;
  readonly tenants: number;
}

/** Who owned a slot when this shard last saw it. */
export interface SlotClaim {
  readonly slot: number;
  readonly epoch: number;
  /** The incarnation; undefined after a release. */
  readonly owner: string | undefined;
}

/** What one shard knows of the slots of the cluster. */
export interface SlotsReport {
  readonly incarnation: string;
  /**
   * Milliseconds for which it may still answer without hearing from the store; 0: it may not, undefined: it needs no
   * lease.
   */
  readonly leaseLeftMs: number | undefined;
  /** Those that it owns. */
  readonly owned: readonly SlotStatus[];
  /** Of every slot of the cluster that was ever claimed; not necessarily the latest. */
  readonly rows: readonly SlotClaim[];
}

/** A tenant with what its owner knows of it besides the record. */
export interface TenantStatus extends Tenant {
  /** Live rows; undefined: not known now. */
  readonly counts?: TenantCounts | undefined;
  /** Undefined: they are being counted, or the tenant is being deleted. */
  readonly grants?: TenantGrants | undefined;
  /** While it is being deleted. */
  readonly deletion?: TenantDeletion | undefined;
}

export interface TenantCounts {
  readonly namespaces: number;
  readonly keys: number;
}

export interface TenantGrants {
  /** Live ones. */
  readonly grants: number;
  /** UTF-8 bytes of their subjects, relations and objects. */
  readonly bytes: number;
}

/** How far the removal of a tenant's data has come, since its owner began or went on with it. */
export interface TenantDeletion {
  /** Bounded parts, each of up to some hundred subjects or a thousand rows. */
  readonly partsRemoved: number;
  /** Wall clock, ms; undefined: none yet. */
  readonly lastPartAtMs: number | undefined;
}

/** What one minute of a tenant's requests came to. */
export interface UsageMinute {
  /** When it began, milliseconds since 1970, a multiple of 60,000. */
  readonly atMs: number;
  readonly requests: number;
  /** Of them, refused by the limit. */
  readonly refused: number;
  readonly checks: number;
}

/** What fronts asked of a shard over the last ten seconds. */
export interface Load {
  readonly checksPerSecond: number;
  /** Answers with a status of 500 and above. */
  readonly failuresPerSecond: number;
  /** Of checks; undefined where there were none. */
  readonly p99Ms: number | undefined;
}

/** What a front has counted since its last report. Any number may be wrong: only its shape is certain. */
export interface FrontReport {
  readonly load:
    | {
        readonly elapsedMs: number;
        readonly checks: number;
        readonly failures: number;
        /** By bucket of the latency histogram. */
        readonly latencies: readonly number[];
      }
    | undefined;
  readonly usage: readonly TenantUsageReport[];
}

export interface TenantUsageReport {
  readonly slot: number;
  readonly tenantId: string;
  /** Since 1970, by the front's clock. */
  readonly minute: number;
  readonly requests: number;
  readonly refused: number;
  readonly checks: number;
}

export interface Routes {
  /** What this shard serves: slot → epoch. */
  readonly epochs: ReadonlyMap<number, number>;
  /** The other members that live, as far as this shard knows them: where fronts may look for the other slots. */
  readonly members?: readonly MemberAddress[];
}

/** What operators are told of a member; its health is between shards. */
export interface ClusterMember {
  /** `inc_…`: one run of a shard process. */
  readonly incarnation: string;
  readonly shardName: string;
  /** host:port of its gRPC server. */
  readonly address: string;
  /** `draining`: alive, hands its slots over and gets no new ones. `dead` is final. */
  readonly state: 'alive' | 'draining' | 'dead';
  /** A new number at every heartbeat that it tried. */
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
  /** At the time of the welcome: a shard that was declared dead joins again as another one, on the same connections. */
  readonly incarnation: string;
  readonly shardName: string;
  readonly slots: number;
  readonly deadlineMs: number;
  readonly leaseMs: number;
}

/** What a handle has to allow: the scope of its key; `operator-handle`: what no key allows; `handle`: nothing more. */
export type HandleRight = Scope | 'handle' | 'operator-handle';

/** The objects on which a subject holds a relation; those of one namespace, unless it is undefined. */
export interface ObjectsQuery extends PageQuery {
  readonly subject: string;
  readonly relation: Relation;
  readonly namespace: string | undefined;
}

/** The subjects that hold a relation on an object; those of one namespace, unless it is undefined. */
export interface HoldersQuery extends PageQuery {
  readonly object: string;
  readonly relation: Relation;
  readonly namespace: string | undefined;
}

export interface GrantsQuery extends PageQuery {
  readonly of: { readonly subject: string } | { readonly object: string };
  /** Undefined: all. */
  readonly relation: Relation | undefined;
}

/** The calls of tenants, which any peer may make. Every method throws (or rejects with) ShardFailure or GrantdError. */
export interface TenantConnection {
  /** `key`: its whole text. What is stored of a key does not authenticate. */
  authenticate(claim: { tenantId: string; keyId: string; key: string }): Promise<IssuedHandle>;
  /** Whose it is; empty where the handle is not known. */
  tenantOf(handle: number): string;
  /**
   * Throws `insufficient-scope` where the handle does not have the right. To be asked right before every call under a
   * handle, here and of the operator, but for `check`, which asks for itself.
   */
  demandRight(handle: number, right: HandleRight): void;
  /** Resolves where a request under this handle would be served now. */
  confirm(handle: number): Promise<void>;
  /** Answers at once where memory decides. `relation` is a wire number. */
  check(handle: number, subject: string, relation: number, object: string): boolean | Promise<boolean>;
  /** All at one moment of the tenant's history, in order. At most 100. */
  checkBulk(handle: number, checks: TupleColumns): Promise<{ authorized: readonly boolean[]; checkedAtMs: number }>;
  /** At most 1,000. Each is decided in order, each is its own operation; resolves once all are durable. */
  writeGrants(handle: number, attempt: Attempt, writes: readonly GrantRequest[]): Promise<readonly GrantResult[]>;
  listObjects(handle: number, query: ObjectsQuery): Promise<ResultPage<string>>;
  /** Rejects as `unavailable` while the tenant's grants are being stored by object. */
  listHolders(handle: number, query: HoldersQuery): Promise<ResultPage<string>>;
  /** The live grants of a subject or on an object, ascending by relation and the other in bytes. */
  listGrants(handle: number, query: GrantsQuery): Promise<ResultPage<Grant>>;
  listNamespaces(handle: number): Promise<readonly Namespace[]>;
  createNamespace(handle: number, attempt: Attempt, name: string): Promise<{ created: boolean; namespace: Namespace }>;
  createKey(
    handle: number,
    attempt: Attempt,
    key: { keyId: string; name: string; scopes: ScopeMask; expiresAtMs: number | undefined; hash: string },
  ): Promise<ListedKey>;
  listKeys(handle: number, query: PageQuery): Promise<ResultPage<ListedKey>>;
  revokeKey(handle: number, attempt: Attempt, keyId: string): Promise<void>;

  /** What cannot be is cut down or left out. */
  report(report: FrontReport): void;

  /** The peer has disconnected: its handles end, those of the operator too. */
  close(): void;
}

/** The calls of the operator: only a console has them. `not-found` reaches the console as `tenant-not-found`. */
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
      name: string | undefined;
      plan: string | undefined;
      state: 'active' | 'suspended' | 'deleting' | undefined;
      operator: string;
    },
  ): Promise<Tenant>;
  readTenant(tenantId: string): Promise<TenantStatus>;
  /** The last 60 minutes, ascending, without those that had no request. */
  readUsage(tenantId: string): Promise<readonly UsageMinute[]>;
  /** Of the tenants this shard serves (deleted ones not), ascending by id, after `after`. */
  listTenants(query: { after: string | undefined; limit: number }): Promise<readonly TenantStatus[]>;
  /**
   * Of those, the ones with `name` in their name or id, in any case. `scannedTo`: how far it looked where it did not
   * look at all of them; a page may be empty all the same.
   */
  findTenants(query: {
    name: string;
    after: string | undefined;
    limit: number;
  }): Promise<{ readonly tenants: readonly TenantStatus[]; readonly scannedTo: TenantId | undefined }>;
  /** Every subject that has a grant, and some that had one; ascending by bytes. */
  listSubjects(handle: number, query: PageQuery): Promise<ResultPage<string>>;
  /** By (seq, index). Of a tenant that was deleted, too, for as long as its audit log is kept. */
  listAuditLog(query: AuditLogQuery & { readonly tenantId: string }): Promise<AuditLogPage>;
  /** Every live grant, ascending by (subject, relation, object) in bytes. */
  exportGrants(handle: number, query: PageQuery): Promise<ResultPage<Grant>>;
  listSlots(): Promise<SlotsReport>;
  listMembers(): Promise<readonly ClusterMember[]>;
  readLoad(): Promise<Load>;
}

/** Of a console: the handles of both are valid on both. */
export interface ConsoleConnection {
  readonly tenant: TenantConnection;
  readonly operator: OperatorConnection;
}

export interface Shard {
  welcome(): ShardWelcome;
  /** Milliseconds on the clock that attempts expire by. */
  monotonicMs(): number;
  connect(): TenantConnection;
  /** Of a peer that has proved that it is a console. */
  connectConsole(): ConsoleConnection;
  routes(): Routes;
  /** Calls back at every change of `routes()`, until the returned function is called. */
  watchRoutes(onChange: () => void): () => void;
}
