// The store port: what grantd requires of a durable store. Two kinds of tables never share rows.
// - log, slots, members: changed only by conditional writes (lightweight transactions), read at the serial level. They
//   order everything and fence a previous owner.
// - state and checkpoints: derived from the log, written with stamped plain writes. A write with a smaller stamp than
//   the row's never changes it, so applying is idempotent and commutative, whichever process does it, however often.
//
// An adapter translates its library's errors to GrantdError `unavailable`. The outcome of a conditional write is then
// unknown, and the caller reads it back. One contract suite (test/contract/store) runs on every adapter.

import type { ApiKeyRecord } from '../core/api-keys.ts';
import type { ClusterId, KeyId, TenantId } from '../core/ids.ts';
import type { RulesVersion } from '../core/rules-versions.ts';
import type { Tenant } from '../core/tenants.ts';
import type { Grant, Relation, Tuple } from '../core/tuples.ts';

/** On the monotonic clock of this process, in ms. A call that misses it fails with `unavailable`. */
export type DeadlineMs = number;

/** How long the audit log is kept, unless an operator has changed the table. Migrations have this value: it stays. */
export const AUDIT_LOG_KEPT_DAYS = 400;
export const AUDIT_LOG_KEPT_MS = AUDIT_LOG_KEPT_DAYS * 24 * 3_600_000;

/** How long usage is kept. The table in Cassandra has this value, too: it stays. */
export const USAGE_KEPT_DAYS = 33;

// ---- meta -------------------------------------------------------------------------------------------------------

/**
 * The fixed properties of the cluster, on any store. Created once. An adapter that fixes more, such as the version of
 * its schema, stores, reads and compares that itself before it returns a store (store-adapter.ts).
 */
export interface Meta {
  /** Tells this cluster from every other one, its own restored copies included. Only `replaceClusterId` changes it. */
  readonly clusterId: ClusterId;
  readonly slots: number;
  /** Log entries per segment (K). */
  readonly segmentSize: number;
  readonly leaseMs: number;
  readonly deadlineMs: number;
  /** The format that writers of the log use; readers refuse a higher one. */
  readonly logFormat: number;
  /** Base64url, 32 bytes each; the current one first, then older ones that are still accepted. */
  readonly cursorSecrets: readonly string[];
}

export interface MetaStore {
  readMeta(deadline: DeadlineMs): Promise<Meta | undefined>;
  /** Writes `meta` unless there is one, and returns the stored one. */
  initializeMeta(meta: Meta, deadline: DeadlineMs): Promise<Meta>;
  /**
   * Conditional and durable: gives the cluster the id `to` if it has `from`, and returns the id that it has then;
   * undefined before there is a meta.
   */
  replaceClusterId(from: ClusterId, to: ClusterId, deadline: DeadlineMs): Promise<ClusterId | undefined>;
}

// ---- log --------------------------------------------------------------------------------------------------------

/** One group commit. A (slot, seq) never has more than one record. */
export interface LogRecord {
  readonly slot: number;
  /** 1 and up, without gaps. */
  readonly seq: number;
  readonly epoch: number;
  /** `ent_…`: lets the writer recognize its own record. */
  readonly entryId: string;
  /** JSON text, at most 1 MiB of UTF-8, opaque to the store. */
  readonly body: string;
}

export type AppendOutcome =
  | { readonly kind: 'appended' }
  /** Another record (or this very one, from an earlier attempt) is already there. Nothing was changed. */
  | { readonly kind: 'occupied'; readonly record: LogRecord };

export interface LogStore {
  /** Conditional and durable: when this resolves to `appended`, the record is stored at its seq. */
  append(record: LogRecord, deadline: DeadlineMs): Promise<AppendOutcome>;
  /** A serial read. */
  readRecord(slot: number, seq: number, deadline: DeadlineMs): Promise<LogRecord | undefined>;
  /**
   * A serial read, ascending from `fromSeq`, of one segment only (that of `fromSeq`), at most `limit` records. Fewer
   * than `limit` mean that there are no others from `fromSeq` to the end of the segment.
   */
  readRecords(slot: number, fromSeq: number, limit: number, deadline: DeadlineMs): Promise<readonly LogRecord[]>;
  /**
   * A plain read, at a fraction of the price: ascending from `fromSeq`, at most `limit` records of its segment and the
   * next one. It contains nothing but records that stand, but may lack any of them.
   */
  readTail(slot: number, fromSeq: number, limit: number, deadline: DeadlineMs): Promise<readonly LogRecord[]>;
  /** Deletes the whole segment. Idempotent. */
  removeSegment(slot: number, segment: number, deadline: DeadlineMs): Promise<void>;
}

// ---- slots ------------------------------------------------------------------------------------------------------

export interface SlotRow {
  readonly slot: number;
  /** The incarnation that may serve; undefined after a release. */
  readonly owner: string | undefined;
  /** +1 at every claim; the first is 1. */
  readonly epoch: number;
  /** The seq of the last *open* entry that its owner recorded; undefined before the first. */
  readonly opened: number | undefined;
  /** The log holds every seq from here on; smaller ones may have been trimmed. */
  readonly first: number;
}

/** Whether a conditional write was applied, and the row after it (undefined: none). */
export interface ConditionalOutcome<Row> {
  readonly applied: boolean;
  readonly row: Row | undefined;
}

export interface SlotStore {
  /** A serial read. */
  readSlot(slot: number, deadline: DeadlineMs): Promise<SlotRow | undefined>;
  /** A hint: every row, not necessarily the latest. */
  listSlots(deadline: DeadlineMs): Promise<readonly SlotRow[]>;
  /** The same of a few slots. */
  listSomeSlots(slots: readonly number[], deadline: DeadlineMs): Promise<readonly SlotRow[]>;
  /**
   * Makes `owner` the owner at epoch + 1 if owner and epoch are as expected (`expected` undefined: if there is no row).
   */
  claimSlot(
    claim: {
      readonly slot: number;
      readonly expected: { readonly owner: string | undefined; readonly epoch: number } | undefined;
      readonly owner: string;
    },
    deadline: DeadlineMs,
  ): Promise<ConditionalOutcome<SlotRow>>;
  /** Sets `opened` if owner and epoch are as given. */
  recordOpened(
    opened: { readonly slot: number; readonly owner: string; readonly epoch: number; readonly opened: number },
    deadline: DeadlineMs,
  ): Promise<ConditionalOutcome<SlotRow>>;
  /** Sets `first` if owner and epoch are as given and the stored one is smaller. */
  recordFirst(
    first: { readonly slot: number; readonly owner: string; readonly epoch: number; readonly first: number },
    deadline: DeadlineMs,
  ): Promise<ConditionalOutcome<SlotRow>>;
  /**
   * If owner and epoch are as given: makes the successor the owner at epoch + 1. Without a successor, removes the
   * owner, and the epoch stays.
   */
  releaseSlot(
    release: {
      readonly slot: number;
      readonly owner: string;
      readonly epoch: number;
      readonly successor: string | undefined;
    },
    deadline: DeadlineMs,
  ): Promise<ConditionalOutcome<SlotRow>>;
}

// ---- members ----------------------------------------------------------------------------------------------------

export interface MemberRow {
  /** `inc_…`: one run of a shard process. Inserted once, never reused. */
  readonly incarnation: string;
  /** The stable name of the shard. */
  readonly shardName: string;
  /** host:port of its gRPC server. */
  readonly address: string;
  /** `draining`: alive, but hands its slots over and gets no new ones. `dead` is final. */
  readonly state: 'alive' | 'draining' | 'dead';
  /** A new number at every attempt. */
  readonly heartbeat: number;
  /** The last heartbeat number with which the member reported that it was proven healthy; 0: none. */
  readonly healthyHeartbeat: number;
  /** Wall clock of the insertion, ms. */
  readonly startedAtMs: number;
  /** Wall clock of the member when it sent the last heartbeat, ms. */
  readonly wallMs: number;
  /**
   * Where the member runs, such that the operating system allows only one process at a time there: once another process
   * is there, this one can no longer run. Undefined: not known.
   */
  readonly place: string | undefined;
}

export interface StoreClock {
  /** Stays the same for a node, and differs between nodes. */
  readonly node: string;
  readonly wallMs: number;
}

export interface MemberStore {
  /** Inserts if there is no row of that incarnation. */
  insertMember(member: MemberRow, deadline: DeadlineMs): Promise<ConditionalOutcome<MemberRow>>;
  /**
   * Sets heartbeat, healthy heartbeat, wall clock (and `alive` or `draining`) if the member is not dead and its
   * heartbeat is `expectedHeartbeat`.
   */
  writeHeartbeat(
    heartbeat: {
      readonly incarnation: string;
      readonly expectedHeartbeat: number;
      readonly heartbeat: number;
      readonly healthyHeartbeat: number;
      readonly wallMs: number;
      readonly state: 'alive' | 'draining';
    },
    deadline: DeadlineMs,
  ): Promise<ConditionalOutcome<MemberRow>>;
  /** Sets `dead` if the member is not dead and its heartbeat is `heartbeat`. */
  declareDead(
    declaration: { readonly incarnation: string; readonly heartbeat: number },
    deadline: DeadlineMs,
  ): Promise<ConditionalOutcome<MemberRow>>;
  /** A serial read. */
  readMember(incarnation: string, deadline: DeadlineMs): Promise<MemberRow | undefined>;
  /** A hint: every row, not necessarily the latest. */
  listMembers(deadline: DeadlineMs): Promise<readonly MemberRow[]>;
  /** Deletes a dead member's row. Idempotent; the row of a living member stays. */
  removeMember(incarnation: string, deadline: DeadlineMs): Promise<void>;
  /** The wall clock of one node of the store now. Undefined: the store has the clock of this process. */
  readClock(deadline: DeadlineMs): Promise<StoreClock | undefined>;
}

// ---- rows of state ----------------------------------------------------------------------------------------------
//
// Each is derived from the log and stamped, and every stamp is greater than all earlier ones: of two writes to one row,
// the greater stamp wins, whichever comes last.

/** Microseconds since the Unix epoch, a safe integer. Orders the writes to one row of state; unique per row. */
export type Stamp = number;

/**
 * The rows of a grant, by subject and by object. A revocation writes both as tombstone rows, so that a late or
 * lost write cannot bring the grant back.
 */
export interface GrantWrite extends Grant {
  readonly kind: 'grant';
  readonly tenantId: TenantId;
  readonly tombstone: boolean;
  readonly stamp: Stamp;
}

/**
 * The expiry of a grant. Never revised: the grant may have been revoked, or given another expiry, since. The bucket is
 * that of the subject.
 */
export interface ExpiryWrite extends ExpiryPlace {
  readonly kind: 'expiry';
  readonly tenantId: TenantId;
  readonly stamp: Stamp;
}

/** The place of a grant among those of its tenant that expire. */
export interface ExpiryPlace extends Tuple {
  readonly expiresAtMs: number;
}

/** A place, or one before all places of its time: texts may be empty. */
export interface ExpiryBound {
  readonly expiresAtMs: number;
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
}

export interface SubjectWrite {
  readonly kind: 'subject';
  readonly tenantId: TenantId;
  readonly subject: string;
  readonly stamp: Stamp;
}

export interface NamespaceWrite {
  readonly kind: 'namespace';
  readonly tenantId: TenantId;
  readonly name: string;
  readonly createdAtMs: number;
  readonly stamp: Stamp;
}

export interface KeyWrite {
  readonly kind: 'key';
  readonly tenantId: TenantId;
  readonly key: ApiKeyRecord;
  readonly tombstone: boolean;
  readonly stamp: Stamp;
}

export interface TenantWrite {
  readonly kind: 'tenant';
  readonly slot: number;
  readonly tenant: Tenant;
  readonly stamp: Stamp;
}

/**
 * A version of a tenant's rules. Removed rules are written as the empty rule set. It replaces the version
 * RULES_VERSIONS_MAX before it.
 */
export interface RulesWrite {
  readonly kind: 'rules';
  readonly tenantId: TenantId;
  readonly version: RulesVersion;
  /** Their canonical text, at most 64 KiB. */
  readonly rules: string;
  readonly stamp: Stamp;
}

/** What happened to a tenant, when and by whom. */
export interface AuditLogRow {
  readonly seq: number;
  /** The position of the change within its entry. */
  readonly index: number;
  /** Wall clock, ms since the Unix epoch. */
  readonly atMs: number;
  /** A key id, or `operator:<name>`. */
  readonly actor: string;
  /** `req_…` */
  readonly requestId: string;
  /**
   * What changed, as JSON text: `{"action": "grant.created", …}`. At most 8 KiB; for a change of rules, which has both
   * the new and the previous ones, 129 KiB.
   */
  readonly change: string;
}

export interface AuditLogWrite {
  readonly kind: 'audit-log';
  readonly tenantId: TenantId;
  /** `2026-11`, in UTC, of the entry's time. */
  readonly month: string;
  readonly row: AuditLogRow;
  readonly stamp: Stamp;
}

/** What rules must not lose while grants need it: an own relation, or a condition. */
export type CountKey = `relation:${string}` | `condition:${string}`;

/** Grants that have the relation, or carry the condition. */
export interface KeyCount {
  readonly key: CountKey;
  readonly grants: number;
}

/** How many live grants a tenant has after a seq of its slot's log, and their bytes. */
export interface GrantCountRow {
  readonly tenantId: TenantId;
  /** The count includes every entry up to this seq. */
  readonly seq: number;
  readonly grants: number;
  /** UTF-8 bytes of their subjects, relations and objects. */
  readonly bytes: number;
  /** Those without a grant left out: at most 50 relations and 100 conditions. Undefined: there are none. */
  readonly byKey?: readonly KeyCount[];
  /** See `GrantCount.collectedToBaseMs`. Undefined: no grant of the tenant ever had an expiry. */
  readonly collectedToBaseMs?: number;
}

export interface GrantCountWrite {
  readonly kind: 'grant-count';
  readonly slot: number;
  readonly row: GrantCountRow;
  readonly stamp: Stamp;
}

export type StateWrite =
  | GrantWrite
  | ExpiryWrite
  | SubjectWrite
  | NamespaceWrite
  | KeyWrite
  | TenantWrite
  | RulesWrite
  | AuditLogWrite
  | GrantCountWrite;

/** A grant of a known subject. */
export type GrantRow = Omit<Grant, 'subject'>;

/** A grant on a known object. */
export type ObjectGrantRow = Omit<Grant, 'object'>;

/** The place of a grant among those of its subject, and among those on its object. */
export type GrantPlace = Pick<Grant, 'relation' | 'object'>;
export type ObjectGrantPlace = Pick<Grant, 'relation' | 'subject'>;

/** A part of a tenant's usage. Its owner reuses a bounded number of places, so a tenant has no more rows than those. */
export interface UsageRow {
  readonly place: number;
  /** Opaque to the store, at most 8 KiB of text. */
  readonly counts: string;
}

export interface KeyPage {
  readonly keys: readonly ApiKeyRecord[];
  /** The revoked ones among the rows that were read. */
  readonly revoked: readonly KeyId[];
  /** Where to continue; undefined at the end. */
  readonly next: KeyId | undefined;
}

/** A row to delete for good. */
export type RemovableRow =
  | {
      readonly kind: 'grant';
      readonly tenantId: TenantId;
      readonly subject: string;
      readonly relation: Relation;
      readonly object: string;
      readonly stamp: Stamp;
    }
  | { readonly kind: 'subject'; readonly tenantId: TenantId; readonly subject: string; readonly stamp: Stamp }
  | { readonly kind: 'key'; readonly tenantId: TenantId; readonly keyId: KeyId; readonly stamp: Stamp }
  | { readonly kind: 'tenant'; readonly slot: number; readonly tenantId: TenantId; readonly stamp: Stamp };

// ---- state ------------------------------------------------------------------------------------------------------

export interface Checkpoint {
  /** State holds every entry up to and including this seq. */
  readonly seq: number;
  readonly stamp: Stamp;
  /**
   * The start of the idempotency window: no client repeats an operation of an earlier entry. Valid for every later
   * owner. At most `seq` + 1. Of two checkpoints with the same stamp, the one with the greater value wins.
   */
  readonly windowFrom: number;
}

export interface StateStore {
  /**
   * Applies all writes, in any order. Resolves when all are confirmed; after a failure any of them may have been
   * applied.
   */
  writeState(writes: readonly StateWrite[], deadline: DeadlineMs): Promise<void>;
  /** Call it only after the state up to its seq was confirmed. */
  writeCheckpoint(slot: number, checkpoint: Checkpoint, deadline: DeadlineMs): Promise<void>;
  readCheckpoint(slot: number, deadline: DeadlineMs): Promise<Checkpoint | undefined>;

  /**
   * The list of hot pages of a slot, opaque to the store, at most 32 KiB of text; undefined: there is none. Kept
   * outside the log; may be lost.
   */
  readHotPages(slot: number, deadline: DeadlineMs): Promise<string | undefined>;
  /** The list with the latest wall clock `atMs` stays. */
  writeHotPages(slot: number, list: string, atMs: number, deadline: DeadlineMs): Promise<void>;

  /** One live grant, or undefined. */
  readGrant(
    tenantId: TenantId,
    subject: string,
    relation: Relation,
    object: string,
    deadline: DeadlineMs,
  ): Promise<GrantRow | undefined>;
  /**
   * The live grants of a subject, ascending by (relation, object) in bytes, after `after`. Reads at most `limit` rows
   * (live rows and tombstone rows). `next` is where to continue, undefined at the end.
   */
  listGrants(
    query: {
      readonly tenantId: TenantId;
      readonly subject: string;
      /** Only this relation. */
      readonly relation?: Relation;
      readonly after?: GrantPlace;
      readonly limit: number;
    },
    deadline: DeadlineMs,
  ): Promise<{ readonly grants: readonly GrantRow[]; readonly next: GrantPlace | undefined }>;
  /** The same for an object: ascending by (relation, subject) in bytes. */
  listObjectGrants(
    query: {
      readonly tenantId: TenantId;
      readonly object: string;
      readonly relation?: Relation;
      readonly after?: ObjectGrantPlace;
      readonly limit: number;
    },
    deadline: DeadlineMs,
  ): Promise<{ readonly grants: readonly ObjectGrantRow[]; readonly next: ObjectGrantPlace | undefined }>;
  /**
   * The live grants of several subjects, in their order: of each what `listGrants` returns for at most `limit` rows,
   * and whether these are all.
   */
  listGrantsOfEach(
    query: { readonly tenantId: TenantId; readonly subjects: readonly string[]; readonly limit: number },
    deadline: DeadlineMs,
  ): Promise<readonly { readonly grants: readonly GrantRow[]; readonly isAll: boolean }[]>;
  /** The same for several objects, as `listObjectGrants` returns it. */
  listObjectGrantsOfEach(
    query: { readonly tenantId: TenantId; readonly objects: readonly string[]; readonly limit: number },
    deadline: DeadlineMs,
  ): Promise<readonly { readonly grants: readonly ObjectGrantRow[]; readonly isAll: boolean }[]>;
  /**
   * Subjects of one bucket: every subject that has a grant, and some that once had one; ascending by bytes, after
   * `after`.
   */
  listSubjects(
    query: { readonly tenantId: TenantId; readonly bucket: number; readonly after?: string; readonly limit: number },
    deadline: DeadlineMs,
  ): Promise<readonly string[]>;
  /** Expiries of grants of a bucket, ascending by (expiry, subject, relation, object), after `after`. */
  listExpiries(
    query: {
      readonly tenantId: TenantId;
      readonly bucket: number;
      readonly after: ExpiryBound;
      readonly limit: number;
    },
    deadline: DeadlineMs,
  ): Promise<readonly ExpiryPlace[]>;
  /** All namespaces of a tenant, ascending by name. The plan bounded their number when they were created. */
  listNamespaces(
    tenantId: TenantId,
    deadline: DeadlineMs,
  ): Promise<readonly { readonly name: string; readonly createdAtMs: number }[]>;
  /** One live key, or undefined. */
  readKey(tenantId: TenantId, keyId: KeyId, deadline: DeadlineMs): Promise<ApiKeyRecord | undefined>;
  /**
   * The live keys of a tenant, ascending by id, after `after`. Reads at most `limit` rows, live and revoked. The plan
   * bounds the live keys; nothing bounds the revoked ones that are not deleted yet.
   */
  listKeys(
    query: { readonly tenantId: TenantId; readonly after?: KeyId; readonly limit: number },
    deadline: DeadlineMs,
  ): Promise<KeyPage>;
  /** Tenants of a slot, including deleted ones, ascending by id, after `after`. */
  listTenants(
    query: { readonly slot: number; readonly after?: TenantId; readonly limit: number },
    deadline: DeadlineMs,
  ): Promise<readonly Tenant[]>;
  /** The rules of a version of a tenant; undefined: not written yet, or replaced by a later version. */
  readRules(tenantId: TenantId, version: number, deadline: DeadlineMs): Promise<string | undefined>;
  /** All stored versions of a tenant's rules, in any order: RULES_VERSIONS_MAX at most. */
  listRulesVersions(tenantId: TenantId, deadline: DeadlineMs): Promise<readonly RulesVersion[]>;
  /** The counts of grants of a slot's tenants, ascending by tenant, after `after`. A tenant may have none. */
  listGrantCounts(
    query: { readonly slot: number; readonly after?: TenantId; readonly limit: number },
    deadline: DeadlineMs,
  ): Promise<readonly GrantCountRow[]>;
  /**
   * The audit log of a tenant in one month by (seq, index), ascending or from the newest back, beyond `after` in that
   * order: up to `limit` rows, and none after the one with which the texts of their changes reach `lengthMax`
   * characters (UTF-16). Fewer rows and characters mean that there are no others.
   */
  listAuditLog(
    query: {
      readonly tenantId: TenantId;
      readonly month: string;
      readonly newestFirst?: boolean;
      readonly after?: { readonly seq: number; readonly index: number };
      readonly limit: number;
      /** Default: no bound. */
      readonly lengthMax?: number;
    },
    deadline: DeadlineMs,
  ): Promise<readonly AuditLogRow[]>;
  /**
   * For how long rows of the audit log that are written now are kept, in ms: never more than AUDIT_LOG_KEPT_DAYS, less
   * if an operator has changed the table.
   */
  readAuditLogKeptMs(deadline: DeadlineMs): Promise<number>;
  /** When each of these keys was last used, wall clock in ms. At most 1,000. Kept outside the log; may be lost. */
  listKeyUses(tenantId: TenantId, keyIds: readonly KeyId[], deadline: DeadlineMs): Promise<ReadonlyMap<KeyId, number>>;
  writeKeyUse(tenantId: TenantId, keyId: KeyId, usedAtMs: number, deadline: DeadlineMs): Promise<void>;

  /**
   * The usage of a tenant that is stored at these places, both ends included, in any order. Kept outside the log; may
   * be lost, and a row that was not written again for USAGE_KEPT_DAYS may be missing.
   */
  readUsage(
    query: { readonly tenantId: TenantId; readonly from: number; readonly to: number },
    deadline: DeadlineMs,
  ): Promise<readonly UsageRow[]>;
  /** A few rows of one tenant. Of two writes to a place, that with the later wall clock `atMs` stays. */
  writeUsage(tenantId: TenantId, rows: readonly UsageRow[], atMs: number, deadline: DeadlineMs): Promise<void>;

  /**
   * Deletes rows for good, if they are no newer than their stamps: revoked grants in both tables, revoked keys with
   * their uses, deleted tenants, and subjects. Rows of no such kind stay. Idempotent. Call it once state holds every
   * entry of the log up to the stamps; for a subject, only if it has no grant by then, not even a tombstone row.
   */
  removeTombstones(rows: readonly RemovableRow[], deadline: DeadlineMs): Promise<void>;
  /** Deletes the expiries of a bucket up to `toMs` whose rows are no newer than the stamp. Idempotent. */
  removeExpiries(
    range: { readonly tenantId: TenantId; readonly bucket: number; readonly toMs: number },
    stamp: Stamp,
    deadline: DeadlineMs,
  ): Promise<void>;
  /**
   * Deletes state of a tenant that is no newer than `stamp`: grants, their expiries, subjects, namespaces, keys, key
   * uses, usage, rules, the count of its grants (not the tenant's own row, not the audit log). Does a bounded part per
   * call; returns true when nothing is left. Idempotent.
   */
  purgeTenant(
    tenant: { readonly slot: number; readonly tenantId: TenantId },
    stamp: Stamp,
    deadline: DeadlineMs,
  ): Promise<boolean>;
}

/** The reads that the memory of a tenant makes. */
export type StateReads = Pick<
  StateStore,
  | 'readGrant'
  | 'listGrants'
  | 'listObjectGrants'
  | 'listGrantsOfEach'
  | 'listObjectGrantsOfEach'
  | 'listSubjects'
  | 'listNamespaces'
  | 'readKey'
  | 'listKeys'
  | 'readRules'
>;

export interface Store extends MetaStore, LogStore, SlotStore, MemberStore, StateStore {
  /** Ends the calls in flight and releases files and connections. */
  close(): Promise<void>;
}
