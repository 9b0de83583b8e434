// The port of a shard, as its gRPC server sees it: one connection per peer, and the table of the calls that it serves.
// All decisions of a shard are behind it. A call fails with an error of the catalogue or with a ShardFailure, which
// says what the front should do next.

import type { AuditFilter } from '../core/audit-log.ts';
import type { BulkWrite, BulkWriteResult, GrantedTuple, GrantFilter, GrantRefusal } from '../core/bulk-writes.ts';
import type { CallContext } from '../core/call-context.ts';
import type { FeedFilter, FeedPlace } from '../core/change-feed.ts';
import type { GrantAttributes } from '../core/grant-attributes.ts';
import type { ClusterId, KeyId, TenantId } from '../core/ids.ts';
import type { RulesVersion } from '../core/rules-versions.ts';
import type { Scope, ScopeMask } from '../core/scopes.ts';
import type { UnfollowedGrant } from '../core/service-warnings.ts';
import type { ReadersSetting, Tenant } from '../core/tenants.ts';
import type { Grant, Namespace, TupleColumns } from '../core/tuples.ts';
import type { AccessChanges, RevokedGrants } from '../rules/access-changes.ts';
import type { JoinQuery } from '../rules/join.ts';
import type { NamedTuple } from '../rules/questions.ts';
import type { RulesText } from '../rules/rules-text.ts';
import type { RulesPreview, RulesRequest } from '../rules/rules-writes.ts';

export type { BulkWrite, BulkWriteResult, GrantedTuple, GrantFilter, GrantRefusal } from '../core/bulk-writes.ts';
export type { CallContext } from '../core/call-context.ts';
export type { RulesPreview, RulesRequest } from '../rules/rules-writes.ts';

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

// ---- callers ----

/** Identifies a write; the same for all its attempts. Item i of a call is the operation (requestId, i). */
export interface Attempt {
  readonly requestId: string;
  /** On the shard's monotonic clock, ms; the owner rejects the write after that. */
  readonly expiresAtMs: number;
}

/** What fronts keep of a tenant with the handles of its keys. */
export interface TenantSettings {
  readonly tenantId: TenantId;
  readonly plan: string;
  /** How many shards answer reads of the tenant beside its owner. */
  readonly readers: number;
}

export interface IssuedHandle extends TenantSettings {
  /** 1 and up. Valid on this connection and in this tenure; a connection never reuses a number. */
  readonly handle: number;
  readonly keyId: string;
  readonly scopes: ScopeMask;
  /** Ms; undefined: never. */
  readonly expiresAtMs: number | undefined;
  /** The time of the slot, by which the key expires. */
  readonly nowMs: number;
  readonly suspended: boolean;
}

export interface KeyCredentials {
  readonly tenantId: string;
  readonly keyId: string;
  /** The full key. The stored hash does not authenticate. */
  readonly key: string;
}

/**
 * The right that a call requires of its handle: a scope; `operator-handle`: what no key allows; `handle`: nothing more.
 */
export type HandleRight = Scope | 'handle' | 'operator-handle';

// ---- calls ----

/** A call under a handle, which a front acquires with `authenticate`. */
export interface UnderHandle {
  readonly handle: number;
}

/** A write. All attempts at it are the same operation. */
export interface InAttempt {
  readonly attempt: Attempt;
}

export type WriteUnderHandle = UnderHandle & InAttempt;

interface Call<Caller, Request, Answer> {
  readonly caller: Caller;
  readonly request: Request;
  readonly answer: Answer;
}
type Read<Request, Answer> = Call<UnderHandle, Request, Answer>;
type Write<Request, Answer> = Call<WriteUnderHandle, Request, Answer>;

/** The calls of tenants, open to every peer, besides single checks (`TenantConnection.check`). */
export interface TenantCalls {
  authenticate: Call<object, KeyCredentials, IssuedHandle>;
  /** At a shard that reads for the tenant beside its owner. The handle is for checks and listings alone. */
  authenticateAtReader: Call<object, KeyCredentials, IssuedHandle>;
  /** The read index: what a reader must have applied before it answers a call that came before this one. */
  readPosition: Call<object, { readonly slot: number; readonly tenantId: string }, ReaderPosition>;
  /** Resolves if a request under this handle would be served now. */
  confirm: Read<undefined, void>;
  /** All checks at one moment of the tenant's history, in order. At most 100. */
  checkBulk: Read<TupleColumns, BulkAnswer>;
  /**
   * Checks by name, all at one moment. Rejects with `invalid-relation` for a name that no rule of the tenant defines,
   * unless it is to be denied, and as `evaluation-too-large`.
   */
  checkNamed: Read<NamedChecks, NamedAnswer>;
  /** The names that the subject holds on the object, of those that are actions there; all of a page at one moment. */
  listNames: Read<NamesQuery, ResultPage<string>>;
  /** At most 1,000 writes, decided in order, each its own operation. Resolves once all are durable. */
  writeGrants: Write<readonly GrantRequest[], readonly GrantResult[]>;
  /** One operation. Resolves once it is durable. */
  writeBulk: Write<BulkWrite, BulkWriteResult>;
  /** One operation: revokes up to 1,000 grants that match at one moment. */
  revokeGrants: Write<GrantFilter, RevokeResult>;
  /** What `revokeGrants` would do now. */
  previewRevocation: Read<GrantFilter, RevokeResult>;
  /** Who would lose and gain access without the grants that have all of these. Rejects with `overloaded`. */
  compareAccess: Read<RevokedGrants, AccessChanges>;
  listObjects: Read<ObjectsQuery, ResultPage<string>>;
  listHolders: Read<HoldersQuery, HoldersPage>;
  /** The live half of a join, as of one place of the log. Rejects with `too-many-sets`. */
  readSets: Read<SetsQuery, SubjectSets>;
  /** The live grants of a subject or on an object, ascending by the bytes of (relation, object or subject). */
  listGrants: Read<GrantsQuery, GrantsPage>;
  /** A part of all grants, to mirror it. */
  snapshotGrants: Read<SnapshotQuery, SnapshotPage>;
  listNamespaces: Read<undefined, readonly Namespace[]>;
  createNamespace: Write<string, { readonly created: boolean; readonly namespace: Namespace }>;
  createKey: Write<NewKey, ListedKey>;
  listKeys: Read<PageQuery, ResultPage<ListedKey>>;
  revokeKey: Write<string, void>;
  readRules: Read<undefined, RulesText>;
  /** The join of a name of the present rules. Rejects with `invalid-relation` for a name that they do not have. */
  readJoin: Read<JoinQuery, RevisedJoin>;
  /** One operation. Rejects with `precondition-failed` if the rules that it would replace do not match. */
  writeRules: Write<RulesRequest, void>;
  /** What the write would change. Changes nothing. */
  previewRules: Read<RulesRequest, RulesPreview>;
  /** The versions that are kept, from the newest back; the first is the present one, if the rules ever changed. */
  listRulesVersions: Read<undefined, readonly RulesVersion[]>;
  /** The rules of a version. Rejects with `rules-version-not-found`. */
  readRulesVersion: Read<number, RulesText>;
  /**
   * A page of the change feed. Rejects with `cursor-too-old` and the earliest cursor, or with `overloaded` if too many
   * calls wait for changes.
   */
  readChanges: Read<FeedQuery, FeedPage>;
}

/** The operator's calls: only a console has them. The console gets `not-found` as `tenant-not-found`. */
export interface OperatorCalls {
  authenticateOperator: Call<object, { readonly tenantId: string; readonly operator: string }, IssuedHandle>;
  createTenant: Call<InAttempt, NewTenant, Tenant>;
  updateTenant: Call<InAttempt, TenantChange, Tenant>;
  readTenant: Call<object, { readonly tenantId: string }, TenantStatus>;
  /** From `sinceMs` on: by the minute if that is no longer ago than a day, and otherwise by the hour, for 31 days. */
  readUsage: Call<object, { readonly tenantId: string; readonly sinceMs: number }, UsageSeries>;
  /** The tenants that this shard serves, without deleted ones, ascending by id, after `after`. */
  listTenants: Call<object, TenantsQuery, readonly TenantStatus[]>;
  /** The same, but only tenants whose name or id contains `name` (case-insensitive). */
  findTenants: Call<object, TenantsQuery & { readonly name: string }, FoundTenants>;
  /** Every subject that has a grant, and some that had one earlier; ascending by bytes. */
  listSubjects: Read<PageQuery, ResultPage<string>>;
  /** One operation. Rejects with `key-not-rotatable` and `key-not-found`, and for a repeat as `createKey` does. */
  rotateKey: Write<RotationRequest, RotatedKey>;
  /** Undefined: the tenant has no such key now. */
  identifyKey: Read<KeyClaim, IdentifiedKey | undefined>;
  /** Ordered by (seq, index). Also works for a deleted tenant, for as long as its audit log is kept. */
  listAuditLog: Call<object, TenantAuditLogQuery, AuditLogPage>;
  /** The logs of the slots that this shard serves. */
  listLogEnds: Call<object, undefined, LogEnds>;
  /**
   * The changes of all tenants of a slot, from its log. Rejects with `cursor-too-old` if the log no longer has all of
   * them after that place, and as `invalid-cursor` if the place is ahead of the log.
   */
  readLog: Call<object, LogQuery, LoggedPage>;
  /** Every live grant, ascending by (subject, relation, object) in bytes. */
  exportGrants: Read<PageQuery, GrantsPage>;
  listSlots: Call<object, undefined, SlotsReport>;
  /** Sets the time of a slot's log back to the wall clock, if it is ahead; also when it is called again. */
  repairTime: Call<object, TimeRepair, RepairedTime>;
  listMembers: Call<object, undefined, readonly ClusterMember[]>;
  readLoad: Call<object, undefined, ShardLoad>;
}

const READ_AT: { readonly [Name in keyof TenantCalls]?: (request: TenantCalls[Name]['request']) => string } = {
  checkBulk: ({ subjects: [subject = ''] }) => subject,
  checkNamed: ({ checks: [check] }) => check?.subject ?? '',
  listNames: ({ subject }) => subject,
  listObjects: ({ subject }) => subject,
  listHolders: ({ object }) => object,
  readSets: ({ subject }) => subject,
};

/**
 * For a call that readers answer, too, besides single checks: the subject or object that decides which reader does.
 * Undefined: only the owner answers the call.
 */
export const readAtOf = <Name extends CallName>(name: Name): ((request: RequestOf<Name>) => string) | undefined =>
  (READ_AT as { readonly [Each in CallName]?: (request: RequestOf<Each>) => string })[name];

const ASKED: { readonly [Name in keyof TenantCalls]?: (request: TenantCalls[Name]['request']) => readonly string[] } = {
  checkNamed: ({ checks }) => checks.map(({ relation }) => relation),
  listObjects: ({ relation }) => [relation],
  listHolders: ({ relation }) => [relation],
  readSets: ({ name }) => [name],
  readJoin: ({ name }) => [name],
};

/** The names that a call asks about, besides single checks; undefined: it asks about none. */
export const namesAskedOf = <Name extends CallName>(
  name: Name,
): ((request: RequestOf<Name>) => readonly string[]) | undefined =>
  (ASKED as { readonly [Each in CallName]?: (request: RequestOf<Each>) => readonly string[] })[name];

/** How far the log of a tenant is, as its owner says under its lease. */
export interface LogPosition {
  readonly tenantId: string;
  readonly epoch: number;
  /** No commit of the tenant came after this entry. */
  readonly seq: number;
  /** The slot's time: its next base, less what time is behind bases. */
  readonly nextBase: number;
  /** The owner's time, ms: never before that of the last entry. */
  readonly nowMs: number;
}

/** By tenant. */
export type LogPositions = ReadonlyMap<string, LogPosition>;
export const NO_POSITIONS: LogPositions = new Map();

/** The same as the owner tells a front, which follows the number of readers by it. */
export interface ReaderPosition extends LogPosition {
  /** How many shards answer reads of the tenant beside its owner now; undefined: an owner of an earlier version. */
  readonly readers: number | undefined;
  /**
   * For so many ms from the answer, nobody is shown a commit of the tenant that the position lacks, nor the end of
   * anything that ends more than QUIET_SLACK_MS after that. 0: nothing is promised.
   */
  readonly quietMs: number;
}

/** How far wall clocks and the stamps of entries may run ahead of the monotonic clock during a promise. */
export const QUIET_SLACK_MS = 20;

/** The calls of other shards, which answer reads of tenants beside their owner. Only a proven shard has them. */
export interface ReaderCalls {
  /**
   * The commits of a tenant after `seq`, and how far the log is now: the read index. Rejects with `wrong-owner` and
   * `not-serving`.
   */
  followTenant: Call<object, FollowRequest, FollowAnswer>;
}

/** A slot that its owner will hand over. */
export interface ExpectedSlot {
  readonly slot: number;
  /** The incarnation that gets it. */
  readonly successor: string;
}

export interface Expectation {
  /**
   * The names of the peers that are connected to the successor, fronts among them; at most FRONTS_TOLD_MAX. None while
   * it has not compared its clock with all others.
   */
  readonly fronts: readonly string[];
}
export const FRONTS_TOLD_MAX = 1000;

/** The end of a log whose owner has stopped: the outcome of each of its appends is known. */
export interface SettledLog {
  readonly lastSeq: number;
  /** The smallest base that the next entry may have. */
  readonly nextBase: number;
  /** How far the time of entries is behind their bases. */
  readonly behindMs: number;
}

/** A slot whose row names the successor, as its previous owner has written it. */
export interface HandedOverSlot extends ExpectedSlot {
  /** The successor's. */
  readonly epoch: number;
  /** See `SlotRow`. */
  readonly first: number;
  readonly opened: number | undefined;
  /** Undefined: an append of the previous owner may still arrive. */
  readonly settled: SettledLog | undefined;
}

/** The calls by which an owner hands a slot over to another shard. Only a proven shard has them. */
export interface HandoverCalls {
  /** Resolves when the successor has read ahead what it needs to open the slot. */
  expectSlot: Call<object, ExpectedSlot, Expectation>;
  /** Resolves when the successor serves the slot. Rejects with `not-serving` if it does not. */
  takeSlot: Call<object, HandedOverSlot, undefined>;
}

/** The calls that shards make to each other. */
export interface InterShardCalls extends ReaderCalls, HandoverCalls {}

export interface ShardCalls extends TenantCalls, OperatorCalls, InterShardCalls {}
export type CallName = keyof ShardCalls;
export type CallerOf<Name extends CallName> = ShardCalls[Name]['caller'];
export type RequestOf<Name extends CallName> = ShardCalls[Name]['request'];
export type AnswerOf<Name extends CallName> = ShardCalls[Name]['answer'];
/** The calls of a table that are made under such a caller. */
export type CallsBy<Calls extends Partial<Record<CallName, { readonly caller: object }>>, Caller> = {
  [Name in keyof Calls]: Calls[Name] extends { readonly caller: Caller } ? Name : never;
}[keyof Calls];

// ---- connections ----

/** Serves the calls of a table. Throws (or rejects with) ShardFailure or GrantdError. */
export interface CallServer<Calls extends Partial<ShardCalls>> {
  call<Name extends keyof Calls & CallName>(
    name: Name,
    caller: CallerOf<Name>,
    request: RequestOf<Name>,
  ): Promise<AnswerOf<Name>>;
}

export interface TenantConnection extends CallServer<TenantCalls> {
  /**
   * The calls that come from now on are answered at these positions of their tenants or at later ones, as far as this
   * shard is a reader. It asks the owner itself about a tenant that is not among them.
   */
  answerAt(positions: LogPositions): void;
  /** Answers synchronously if memory decides. `relation` is a wire number. */
  check(handle: number, subject: string, relation: number, object: string): CheckAnswer | Promise<CheckAnswer>;
  /**
   * A check by name, without a context, that costs as little as one by number: its grant is in memory, or its answer
   * since the last commit. Undefined: `checkNamed` decides it.
   */
  checkKnown(handle: number, check: NamedTuple): CheckAnswer | undefined;
  /**
   * Those of the namespaces of which the tenant has no grant and no rule, as far as memory tells at once: a hint beside
   * a denial. None if the handle is unknown.
   */
  unknownNamespaces(handle: number, namespaces: readonly string[]): readonly string[];
  /** The tenant of a handle; empty if the handle is unknown. */
  tenantOf(handle: number): string;
  /** Whether this shard owns the tenant of that id, which is any text. */
  serves(tenantId: string): boolean;
  /**
   * Throws `insufficient-scope` if the handle lacks the right. Call it right before every call under a handle, tenant
   * or operator, except `check` and `checkKnown`, which verify the scope themselves.
   */
  demandRight(handle: number, right: HandleRight): void;
  /** Calls `onChange` once `takeSettings` has something. */
  watchSettings(onChange: () => void): void;
  /**
   * Of up to so many tenants whose keys have handles of this owner here, the settings that have changed since they were
   * issued or taken.
   */
  takeSettings(countMax: number): readonly TenantSettings[];
  /** Of the tenant of a handle of this owner, now; undefined: there is no such handle. */
  settingsOf(handle: number): TenantSettings | undefined;
  /** Calls that wait for changes are answered now; later ones do not wait. */
  endWaits(): void;
  /** Clamps or drops values that cannot be right. */
  report(report: FrontReport): void;
  /** The peer has disconnected: all its handles end, including operator handles. */
  close(): void;
}

/** The connection of a console: a handle from either part is valid on both. */
export interface ConsoleConnection {
  readonly tenant: TenantConnection;
  readonly operator: CallServer<OperatorCalls>;
}

/** The connection of another shard. */
export interface ShardConnection {
  readonly tenant: TenantConnection;
  readonly shard: CallServer<InterShardCalls>;
}

export interface Shard {
  welcome(): ShardWelcome;
  /** Milliseconds on the clock by which attempts expire. */
  monotonicMs(): number;
  /** `name`: of the front. */
  connect(name?: string): TenantConnection;
  /** For a peer that has proved to be a console. */
  connectConsole(): ConsoleConnection;
  /** For a peer that has proved to be a shard. */
  connectShard(): ShardConnection;
  routes(): Routes;
  /** Calls `onChange` at every change of `routes()`, until the returned function is called. */
  watchRoutes(onChange: () => void): () => void;
}

export interface Routes {
  /** The slots that this shard serves, and those whose new owner it can name: slot → epoch. */
  readonly epochs: ReadonlyMap<number, number>;
  /** The other living members that this shard knows. Fronts look for the other slots there. */
  readonly members?: readonly MemberAddress[];
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
  /** Peers of another cluster are refused. */
  readonly clusterId: ClusterId;
  readonly slots: number;
  readonly deadlineMs: number;
  readonly leaseMs: number;
}

// ---- checks and grants ----

/** A boolean, if it does not matter when exactly it was decided; else with that time, of the slot. */
export type CheckAnswer = boolean | TimedAnswer;

export interface TimedAnswer {
  readonly authorized: boolean;
  /** Before the expiry of the grant that authorizes; not before that of one that has expired. */
  readonly checkedAtMs: number;
}

export interface BulkAnswer {
  /** In the order of the checks. */
  readonly authorized: readonly boolean[];
  readonly checkedAtMs: number;
}

export interface NamedChecks extends CallContext {
  /** At most 100. */
  readonly checks: readonly NamedTuple[];
  /** One for each check, in place of `context`, in the same form; `{}` if it has none. Absent: they share `context`. */
  readonly contexts?: readonly string[];
  /** What the caller calls them in its messages; empty: it is a single check. */
  readonly list: string;
  /** Whether the answers are to name the grants on which they rest. */
  readonly explain: boolean;
  /** Whether a check of a name that no rule defines is denied; otherwise it refuses the call. */
  readonly denyUndefined: boolean;
}

/** What a subject may do on an object: see `CompiledRules.actionsOn`. */
export interface NamesQuery extends PageQuery, CallContext {
  readonly subject: string;
  readonly object: string;
}

export interface NamedAnswer extends BulkAnswer {
  /**
   * By check, if asked for: a shortest chain of grants from the subject to the object; under rules with gates, the
   * grants of the proof. Empty unless authorized.
   */
  readonly because: readonly (readonly Grant[])[];
  /** By check, if asked for under rules with gates: the proof, as JSON. Otherwise empty. */
  readonly proofs: readonly string[];
  /** By check, if asked for and denied: why, as JSON. Otherwise empty. */
  readonly reasons: readonly string[];
  /** With `denyUndefined`: indices of the checks that were denied because no rule defines their name, ascending. */
  readonly undefinedAt: readonly number[];
  /** For the first of these checks, which name may have been meant, and which ones there are. */
  readonly hints: readonly string[];
}

export interface GrantRequest extends GrantedTuple {
  readonly revoke: boolean;
  /** A grant that the types of the rules exclude is written too, and counts, as before an export. */
  readonly keepsOutside?: boolean;
}

export type GrantResult =
  /** `changed`: it existed, and has another expiry or condition now. `exists`: it is as it was. */
  | ({ readonly kind: 'created' | 'changed' | 'exists' } & GrantAttributes & UnfollowedGrant)
  | { readonly kind: 'revoked' }
  | { readonly kind: 'not-found' }
  /** The owner refused this one; the other writes of the call take effect. */
  | { readonly kind: 'refused'; readonly code: GrantRefusal; readonly message: string };

export interface RevokeResult {
  readonly revoked: number;
  /** Whether no grant that matches the filter was left. */
  readonly complete: boolean;
}

/** A page may have fewer than `limit` items, even none, although more follow. */
export interface ResultPage<Item> {
  readonly items: readonly Item[];
  /** Where the next page starts; undefined: this is the last page. */
  readonly nextCursor: string | undefined;
}

export interface HoldersPage extends ResultPage<string> {
  /** Those that do not hold the name, though `ns:*` does, in the range of the page. They count against its limit. */
  readonly excluded?: readonly string[];
}

export interface PageQuery {
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** The objects on which a subject holds a relation; all of them, or those of one namespace. */
export interface ObjectsQuery extends PageQuery, CallContext {
  readonly subject: string;
  /** A built-in relation, or a name that a rule of the tenant defines. */
  readonly relation: string;
  readonly namespace: string | undefined;
  /** Only grants count, and not what follows from them by the rules. */
  readonly direct?: boolean;
}

/** The sets of a subject, for a join under the rules as they are. */
export interface SetsQuery extends JoinQuery, CallContext {
  readonly subject: string;
  /** Whether sets of which a parameter is missing are answered as such; otherwise they refuse the call. */
  readonly perhaps: boolean;
}

/** What a mirror of grants is joined with (rules/join.ts). */
export interface SubjectSets {
  /** The subject, those who include it, and the groups in which it is, as they are written in grants. */
  readonly subjects: readonly string[];
  /** `container#name`: what it holds on containers, as far as the join asks for that. */
  readonly held: readonly string[];
  /** Those of which a parameter is missing. */
  readonly perhaps: readonly string[];
  /** `object#name` that the subject is itself; empty: none. */
  readonly own: string;
  /** Of the rules. */
  readonly revision: string;
  /** The answer is that of the log up to here, at this time. */
  readonly seq: number;
  readonly timeMs: number;
  /** No later commit has touched a grant that the join mirrors. */
  readonly through: number;
}

/** The subjects that hold a relation on an object; all of them, or those of one namespace. */
export interface HoldersQuery extends PageQuery, CallContext {
  readonly object: string;
  /** A built-in relation, or a name that a rule of the tenant defines. */
  readonly relation: string;
  readonly namespace: string | undefined;
  /** Only grants count, and not what follows from them by the rules. */
  readonly direct?: boolean;
  /** Whether the object's own groups `object#name` count, whose members are those who hold the name. */
  readonly includeSelf?: boolean;
}

export interface GrantsQuery extends PageQuery, GrantFilter {}

export interface GrantsPage extends ResultPage<Grant> {
  /**
   * A cursor of the change feed, taken before the page was read: a client that lists all pages and follows from the one
   * of the first page misses no change.
   */
  readonly feedCursor: string;
}

/** Every grant of one of the pairs: `document:viewer`. */
export interface SnapshotQuery extends PageQuery {
  readonly on: readonly string[];
}

export interface SnapshotPage extends GrantsPage {
  /** No grant of the page is as a later entry of the log made it. */
  readonly seq: number;
}

// ---- keys ----

export interface NewKey {
  readonly keyId: string;
  readonly name: string;
  readonly scopes: ScopeMask;
  readonly expiresAtMs: number | undefined;
  readonly hash: string;
}

export interface ListedKey {
  readonly keyId: KeyId;
  readonly name: string;
  readonly scopes: ScopeMask;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | undefined;
  readonly lastUsedAtMs: number | undefined;
  /** The key that a rotation replaced with this one. */
  readonly rotatedFrom?: KeyId | undefined;
  /** The key with which a rotation replaced this one. */
  readonly rotatedTo?: KeyId | undefined;
}

/** A new key in place of another: with its name, scopes and expiry. */
export interface RotationRequest {
  readonly keyId: string;
  readonly newKeyId: string;
  readonly hash: string;
  /** How long the previous key still works, unless it expires before; 0: it is revoked. */
  readonly graceMs: number;
}

export interface RotatedKey {
  readonly key: ListedKey;
  /** With its new end. */
  readonly former: ListedKey;
  /** The previous key was revoked. */
  readonly revoked: boolean;
}

/** The key id in a text that may be an API key, and the hash of the text. */
export interface KeyClaim {
  readonly keyId: KeyId;
  readonly hash: string;
}

export interface IdentifiedKey {
  readonly key: ListedKey;
  /** Whether the text is this very key, not only one with its id. */
  readonly matches: boolean;
}

export interface RevisedJoin {
  readonly revision: string;
  /** The join with the revision, as JSON. */
  readonly json: string;
}

// ---- tenants ----

export interface NewTenant {
  readonly tenantId: string;
  readonly name: string;
  readonly plan: string;
  readonly operator: string;
}

/** Undefined fields stay as they are. */
export interface TenantChange {
  readonly tenantId: string;
  readonly name?: string | undefined;
  readonly plan?: string | undefined;
  readonly state?: 'active' | 'suspended' | 'deleting' | undefined;
  /** Null: as its plan says. */
  readonly readers?: ReadersSetting | null | undefined;
  readonly operator: string;
}

export interface TenantsQuery {
  readonly after: string | undefined;
  readonly limit: number;
}

export interface FoundTenants {
  readonly tenants: readonly TenantStatus[];
  /** Where the search stopped if it did not look at all tenants; such a page may be empty. */
  readonly scannedTo: TenantId | undefined;
}

/** A tenant record with what its owner knows about the tenant. */
export interface TenantStatus extends Tenant {
  /** Live rows; undefined: currently unknown. */
  readonly counts?: TenantCounts | undefined;
  /** Undefined: the tenant is being deleted. */
  readonly grants?: TenantGrants | undefined;
  /** What its owner has chosen now, if its readers are `auto`. */
  readonly chosenReaders?: number | undefined;
  /** Set while the tenant is being deleted. */
  readonly deletion?: TenantDeletion | undefined;
  /** Only in listings: the last whole minute, zeros included. Undefined: not reported. */
  readonly lastMinute?: UsageBucket | undefined;
}

export interface TenantCounts {
  readonly namespaces: number;
  readonly keys: number;
}

export interface TenantGrants {
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

/** What a tenant used, as far as its owners know it: a process that dies loses some minutes. */
export interface UsageSeries {
  /** A minute or an hour. */
  readonly bucketMs: number;
  /** Ascending; those without a request are left out. */
  readonly buckets: readonly UsageBucket[];
  /** What its owner remembers of the requests that were refused or failed, newest first. */
  readonly problems: readonly TenantProblem[];
}

/** One kind of problem that requests with one key met since the owner remembers. */
export interface TenantProblem {
  readonly keyId: string;
  readonly code: string;
  readonly count: number;
  /** Of the first one and the last one, wall clock of the owner. */
  readonly sinceMs: number;
  readonly atMs: number;
  /** Of the last one. */
  readonly requestId: string;
  readonly detail: string;
}

/** One minute, or one hour, of a tenant's requests. */
export interface UsageBucket {
  /** Its start, milliseconds since 1970, a whole number of minutes. */
  readonly atMs: number;
  readonly requests: number;
  /** Requests that the rate limit refused. */
  readonly refused: number;
  readonly checks: number;
  /** The tenant's plan at that time, and thus the limit; undefined: not known. */
  readonly plan?: string | undefined;
}

// ---- changes ----

export interface AuditLogQuery extends PageQuery, AuditFilter {
  readonly newestFirst?: boolean | undefined;
  /** Only changes at or after this time; wall clock, ms since the Unix epoch. */
  readonly sinceMs?: number | undefined;
  /** Only changes before this time. */
  readonly untilMs?: number | undefined;
}

export interface TenantAuditLogQuery extends AuditLogQuery {
  readonly tenantId: string;
}

/** One change of a tenant: what, when and by whom. */
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
  /**
   * What changed, as JSON: `{"action": "grant.created", …}`. At most 8 KiB; rules with their previous ones, 129 KiB.
   */
  readonly change: string;
}

export interface AuditLogPage extends ResultPage<AuditRecord> {
  /**
   * An oldest-first cursor for the changes still to come, after everything up to now. Set on the last page of a listing
   * that is oldest first, and on the first page of one that is newest first. Undefined on other pages, in a listing
   * with an upper time bound, and for a deleted tenant.
   */
  readonly resumeCursor: string | undefined;
  /**
   * Set on a page that ended early because its read limit was reached: the time of the last change that was read. Wall
   * clock, ms since the Unix epoch.
   */
  readonly scannedToMs?: number | undefined;
}

/** Where the feed begins: at a cursor, at a time, now, or with the oldest change that is kept. */
export interface FeedQuery extends FeedFilter {
  readonly cursor?: string | undefined;
  /** Changes at or after this time; wall clock, ms since the Unix epoch. */
  readonly sinceMs?: number | undefined;
  /** Only what is committed from now on. */
  readonly fromNow?: boolean | undefined;
  readonly limit: number;
  /** How long an empty page waits for a change. Up to `FEED_WAIT_MS_MAX`. */
  readonly waitMs: number;
}

export interface FeedRecord extends AuditRecord {
  /** Where the feed goes on after this change. */
  readonly cursor: string;
}

export interface FeedPage {
  readonly items: readonly FeedRecord[];
  /** Where the feed goes on: everything before it that fits is in this page, or came earlier. */
  readonly nextCursor: string;
  /** The place of that cursor. */
  readonly next: FeedPlace;
  /** Time of the owner; wall clock, ms since the Unix epoch. */
  readonly atMs: number;
  /** Nothing more was committed when this was read. */
  readonly atEnd: boolean;
}

/** The entries that the log of a slot holds. */
export interface LogRange {
  readonly slot: number;
  /** Earlier ones have been trimmed. */
  readonly first: number;
  readonly last: number;
}

export interface LogEnds {
  /** The logs of the slots that this shard serves. */
  readonly ranges: readonly LogRange[];
  /** With which consoles sign places in all logs: base64url, the current one first. The same at every shard. */
  readonly cursorKeys: readonly string[];
}

export interface LogQuery {
  readonly slot: number;
  /** An entry that was read before, or the one before the first. */
  readonly afterSeq: number;
  /** Without the changes of earlier entries, wall clock in ms; 0: all. */
  readonly sinceMs: number;
}

/** A change of any tenant, as its audit log has it. */
export interface LoggedChange extends AuditRecord {
  readonly tenantId: string;
}

export interface LoggedPage {
  /** All changes of the entries up to `nextSeq`, in the order of the log. */
  readonly items: readonly LoggedChange[];
  readonly nextSeq: number;
  /** There were no more entries. */
  readonly atEnd: boolean;
}

// ---- readers ----

export interface FollowRequest {
  readonly tenantId: string;
  /** The epoch of the owner that the reader follows; 0: any, from its beginning. */
  readonly epoch: number;
  /** The last entry that the reader has applied; 0 at the beginning. */
  readonly seq: number;
  /** Append an entry, if need be an empty one, so that the log reaches the time of this call (grants expire by it). */
  readonly advance: boolean;
  /** The keys that calls have used at the reader since it last told the owner. */
  readonly uses?: readonly UsedKey[];
}

export const USED_KEYS_MAX = 1000;

export interface UsedKey {
  readonly keyId: string;
  /** The owner's time, as the reader knows it. */
  readonly usedAtMs: number;
}

export interface FollowAnswer {
  readonly epoch: number;
  /** The last committed entry; or that of this part. */
  readonly seq: number;
  /** Greater than the stamp of every commit so far: the slot's time. */
  readonly nextBase: number;
  /** The owner's time, ms: never before that of the last entry. */
  readonly nowMs: number;
  /** Entries up to this one are in the state tables. */
  readonly appliedSeq: number;
  /**
   * JSON, as `src/shard/readers` encodes it; empty if the tenant has no commit after `seq`. At most
   * `FOLLOWED_BYTES_MAX`.
   */
  readonly commits: string;
  /** Further commits follow, for the next question: the times here are those of the end of the log. */
  readonly more: boolean;
  /** No grant that expires before this has yet to be collected. Undefined: none of the tenant ever had an expiry. */
  readonly uncollectedMs?: number | undefined;
}

/** UTF-8 bytes of the commits of one answer: three of the largest entries of a log, which fit into a message. */
export const FOLLOWED_BYTES_MAX = 3 * 1024 * 1024;

// ---- the cluster ----

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

export interface TimeRepair {
  readonly slot: number;
  /** Only says how far it is ahead. */
  readonly dryRun: boolean;
}

export interface RepairedTime {
  readonly slot: number;
  /**
   * `right`: it is not ahead; `ahead`: it is, and the call was a dry run; `ending`: what has ended by the time of the
   * log is being recorded as ended, and the call has to be repeated; `repaired`: the time is that of the wall clock.
   */
  readonly state: 'right' | 'ahead' | 'ending' | 'repaired';
  /** How far the time of the log was ahead. */
  readonly aheadMs: number;
  /** The wall clock. */
  readonly wallMs: number;
  /** Keys that had ended by the time of the log and were revoked by this call. */
  readonly keys: number;
}

/** The owner of a slot when this shard last read its row. */
export interface SlotClaim {
  readonly slot: number;
  readonly epoch: number;
  /** The incarnation of the owner; undefined after a release. */
  readonly incarnation: string | undefined;
}

/** What one shard knows about the slots of the cluster. */
export interface SlotsReport {
  readonly incarnation: string;
  readonly shardName: string;
  /**
   * Milliseconds for which the shard may still answer without hearing from the store. 0: it may not answer; undefined:
   * it needs no lease.
   */
  readonly leaseLeftMs: number | undefined;
  /** The slots that this shard owns. */
  readonly owned: readonly SlotStatus[];
  /** Every slot of the cluster that was ever claimed, as last seen; may be out of date. */
  readonly owners: readonly SlotClaim[];
  /** The tenants of other shards that this shard reads for: the busiest hundred. */
  readonly readers: readonly ReaderStatus[];
}

/** A tenant that a shard reads for beside its owner. Counts are since the shard started. */
export interface ReaderStatus {
  readonly tenantId: string;
  readonly slot: number;
  /** The owner's. */
  readonly epoch: number;
  /** The last entry of the log that it has applied: the position of its last answer. */
  readonly position: number;
  /** Checks and listings that it answered. */
  readonly calls: number;
  /** How often it asked the owner for entries that it lacked. */
  readonly readIndexes: number;
  /** Calls that waited when the reader ended, and went to the owner. */
  readonly handedOver: number;
  /** How often it began. */
  readonly begun: number;
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

/** The load that fronts put on a shard over the last ten seconds. */
export interface Load {
  readonly checksPerSecond: number;
  /** Responses with a status of 500 and above. */
  readonly failuresPerSecond: number;
  /** Latency of checks; undefined: there were none. */
  readonly p99Ms: number | undefined;
}

export interface ShardLoad extends Load {
  readonly shardName: string;
  /** Undefined: no call of a tenant had to wait for its turn. */
  readonly busiest?: BusiestTenant | undefined;
}

/** The tenant for which the process of a shard spent the most time after its calls had waited for their turn. */
export interface BusiestTenant {
  readonly tenantId: string;
  /** The share of the last ten seconds, 0 to 1. */
  readonly share: number;
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
  readonly problems: readonly TenantProblemReport[];
  readonly asked: readonly TenantAskedReport[];
  /** Slots that requests wait for. */
  readonly awaited: readonly number[];
}

/** Problems of one kind that requests with one key met since the last report. */
export interface TenantProblemReport extends Omit<TenantProblem, 'sinceMs' | 'atMs'> {
  readonly slot: number;
  readonly tenantId: string;
}

/** Names, besides built-in relations, that keys of a tenant have asked about, whether or not its rules define them. */
export interface TenantAskedReport {
  readonly slot: number;
  readonly tenantId: string;
  readonly names: readonly string[];
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
