// The store port: what grantd requires of a durable store. Two kinds of tables never share rows.
// - log, slots, members: changed only by conditional writes (lightweight transactions), read at the serial level. They
//   order everything and fence a former owner.
// - state and checkpoints: derived from the log, written with stamped plain writes. A write with a smaller stamp than
//   the row's never changes it, so applying is idempotent and commutative, whichever process does it, however often.
//
// An adapter translates its library's errors to GrantdError `unavailable`. For a conditional write that means that its
// outcome is unknown: read back. One contract suite (test/contract/store) runs on every adapter.

import type { ApiKeyRecord } from '../core/api-keys.ts';
import type { KeyId, TenantId } from '../core/ids.ts';
import type { Tenant } from '../core/tenants.ts';
import type { Relation } from '../core/tuples.ts';
import type {
  AuditLogRow,
  ExpiryBound,
  ExpiryPlace,
  GrantCountRow,
  GrantPlace,
  GrantRow,
  KeyPage,
  ObjectGrantPlace,
  ObjectGrantRow,
  RemovableRow,
  Stamp,
  StateWrite,
} from './state-rows.ts';

export type * from './state-rows.ts';

/** When to give up, on the monotonic clock of this process, in ms. The call then fails as `unavailable`. */
export type DeadlineMs = number;

/** How long the audit log is kept, unless an operator has changed the table. Migrations have this value: it stays. */
export const AUDIT_LOG_KEPT_DAYS = 400;
export const AUDIT_LOG_KEPT_MS = AUDIT_LOG_KEPT_DAYS * 24 * 3_600_000;

// ---- meta -------------------------------------------------------------------------------------------------------

/**
 * What is fixed for the cluster, on any store. Created once. If an adapter fixes more, such as the version of its
 * schema, it stores, reads and compares that itself before it returns a store (store-adapter.ts).
 */
export interface Meta {
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
  /** After a release: the incarnation expected to claim next, a hint. */
  readonly successor: string | undefined;
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
  /** Removes the owner if owner and epoch are as given. The epoch stays. */
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
  /**
   * Where the member runs, such that the operating system allows only one process at a time there: once another process
   * is there, this one can no longer run. Undefined: not known.
   */
  readonly place: string | undefined;
}

export interface MemberStore {
  /** Inserts if there is no row of that incarnation. */
  insertMember(member: MemberRow, deadline: DeadlineMs): Promise<ConditionalOutcome<MemberRow>>;
  /**
   * Sets heartbeat, healthy heartbeat (and `alive` or `draining`) if the member is not dead and its heartbeat is
   * `expectedHeartbeat`.
   */
  writeHeartbeat(
    heartbeat: {
      readonly incarnation: string;
      readonly expectedHeartbeat: number;
      readonly heartbeat: number;
      readonly healthyHeartbeat: number;
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
}

// ---- state ------------------------------------------------------------------------------------------------------

export interface Checkpoint {
  /** State holds every entry up to and including this seq. */
  readonly seq: number;
  readonly stamp: Stamp;
  /**
   * No operation of an earlier entry is repeated any more, which stays true whichever process says so. At most `seq` +
   * 1. Of two checkpoints with the same stamp, the one with the greater value wins.
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
  /** Of two lists, that with the later wall clock `atMs` stays. */
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
   * Subjects of one bucket: every subject that has a grant, and some that once had one; ascending by bytes, after
   * `after`.
   */
  listSubjects(
    query: { readonly tenantId: TenantId; readonly bucket: number; readonly after?: string; readonly limit: number },
    deadline: DeadlineMs,
  ): Promise<readonly string[]>;
  /** Rows of a bucket that tell when grants expire, ascending by (expiry, subject, relation, object), after `after`. */
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
  /** The rules of a tenant as they were last written; undefined: they never were. */
  readRules(tenantId: TenantId, deadline: DeadlineMs): Promise<string | undefined>;
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
   * Deletes rows for good, if they are no newer than their stamps: revoked grants in both tables, revoked keys with
   * their uses, deleted tenants, and subjects. Rows of no such kind stay. Idempotent. Call it once state holds every
   * entry of the log up to the stamps; for a subject, only if it has no grant by then, not even a tombstone row.
   */
  removeTombstones(rows: readonly RemovableRow[], deadline: DeadlineMs): Promise<void>;
  /** Deletes the rows of a bucket that tell an expiry up to `toMs`, if they are no newer than the stamp. Idempotent. */
  removeExpiries(
    range: { readonly tenantId: TenantId; readonly bucket: number; readonly toMs: number },
    stamp: Stamp,
    deadline: DeadlineMs,
  ): Promise<void>;
  /**
   * Deletes state of a tenant that is no newer than `stamp`: grants, their expiries, subjects, namespaces, keys, key
   * uses, rules, the count of its grants (not the tenant's own row, not the audit log). Does a bounded part per call;
   * returns true when nothing is left. Idempotent.
   */
  purgeTenant(
    tenant: { readonly slot: number; readonly tenantId: TenantId },
    stamp: Stamp,
    deadline: DeadlineMs,
  ): Promise<boolean>;
}

export interface Store extends MetaStore, LogStore, SlotStore, MemberStore, StateStore {
  /** Ends the calls in flight and releases files and connections. */
  close(): Promise<void>;
}
