// What travels between the main thread and the store's worker threads: plain arrays and objects. The calls are those of
// the store port without their deadline, which the main side keeps. Where a call carries many rows (a batch of state,
// a page of grants) they travel as one flat array, which costs a fraction of an array of objects to copy.

import type { Relation } from '../../core/tuples.ts';
import type { AppendOutcome, DeadlineMs, LogRecord, Meta, Store } from '../store.ts';

type Call<Method> = Method extends (...args: [...infer Args, DeadlineMs]) => Promise<infer Result>
  ? { readonly args: Args; readonly result: Result }
  : never;

type Calls<Name extends keyof Store> = { readonly [Each in Name]: Call<Store[Each]> };

export type CallMap = Readonly<Record<string, { readonly args: readonly unknown[]; readonly result: unknown }>>;

/** Executed together in one durable transaction, answered after its commit. */
export type ConditionalCalls = Calls<
  | 'initializeMeta'
  | 'claimSlot'
  | 'recordOpened'
  | 'recordFirst'
  | 'releaseSlot'
  | 'insertMember'
  | 'beatMember'
  | 'declareDead'
  | 'removeMember'
> & {
  readonly append: { readonly args: [record: LogRecord, segment: number]; readonly result: AppendOutcome };
};

export type Value = string | number | null;

/** The rows of a `writeState` by table, each row as many values as the table has columns here, one after another. */
export interface StateBatch {
  readonly subjects: Value[];
  readonly grants: Value[];
  readonly namespaces: Value[];
  readonly keys: Value[];
  readonly tenants: Value[];
  readonly trail: Value[];
  readonly grantCounts: Value[];
}

export type StateBatchTable = keyof StateBatch;

/** Values per row of a `StateBatch`; `toStateBatch` and the statements of the writer both follow it. */
export const STATE_BATCH_WIDTHS: Readonly<Record<StateBatchTable, number>> = {
  /** tenant, bucket, subject, stamp */
  subjects: 4,
  /** tenant, subject, relation, object, grant_id, created_at_ms, gone, stamp */
  grants: 8,
  /** tenant, name, created_at_ms, stamp */
  namespaces: 4,
  /** tenant, key_id, name, scopes, created_at_ms, expires_at_ms, hash, gone, stamp */
  keys: 9,
  /** slot, tenant, name, plan, state, created_at_ms, stamp */
  tenants: 7,
  /** tenant, month, seq, position, at_ms, actor, request_id, change, stamp */
  trail: 9,
  /** slot, tenant, seq, grants, bytes, position, steps, stamp */
  grantCounts: 8,
};

/** Executed in slices, in transactions that become durable with a later durable one, or earlier. */
export type StateCalls = Calls<'removeSegment' | 'writeCheckpoint' | 'writeKeyUse' | 'removeGone' | 'purgeTenant'> & {
  readonly writeState: { readonly args: [batch: StateBatch]; readonly result: Call<Store['writeState']>['result'] };
  /**
   * Removes a bounded part of what is older than the month in the audit log of the tenants behind `after`. Results in the
   * tenant behind which to go on; undefined: nothing is left.
   */
  readonly expireAuditLog: { readonly args: [beforeMonth: string, after: string]; readonly result: string | undefined };
};

/** A page of grants: relation, object, grant id, created at (ms) of each, one after another. */
export interface FlatGrants {
  readonly values: readonly Value[];
  readonly next: { readonly relation: Relation; readonly object: string } | undefined;
}

type ListGrantsArgs = Call<Store['listGrants']>['args'];

export type ReadCalls = Calls<
  | 'readMeta'
  | 'readSlot'
  | 'listSlots'
  | 'readMember'
  | 'listMembers'
  | 'readCheckpoint'
  | 'readGrant'
  | 'listSubjects'
  | 'listNamespaces'
  | 'readKey'
  | 'listKeys'
  | 'listTenants'
  | 'listGrantCounts'
  | 'listTrail'
  | 'listKeyUses'
> & {
  readonly readRecord: {
    readonly args: [slot: number, segment: number, seq: number];
    readonly result: LogRecord | undefined;
  };
  readonly readRecords: {
    readonly args: [slot: number, segment: number, fromSeq: number, limit: number];
    readonly result: readonly LogRecord[];
  };
  readonly listGrants: { readonly args: ListGrantsArgs; readonly result: FlatGrants };
};

export type WriteCalls = ConditionalCalls & StateCalls;

/** One function per call, run to its end. */
export type Handlers<Each extends CallMap> = {
  readonly [Name in keyof Each]: (...args: Each[Name]['args']) => Each[Name]['result'];
};

/** One generator per call: each step does a bounded part within the transaction of the moment. */
export type SteppedHandlers<Each extends CallMap> = {
  readonly [Name in keyof Each]: (...args: Each[Name]['args']) => Generator<undefined, Each[Name]['result'], undefined>;
};

export interface Request {
  readonly id: number;
  readonly name: string;
  readonly args: readonly unknown[];
}

/** Why a call failed: a bounded set of reasons, and SQLite's own words for the log. */
export interface Failure {
  readonly reason: string;
  readonly message: string;
}

export type Reply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly failure: Failure };

export type ToWorker =
  | { readonly kind: 'calls'; readonly requests: readonly Request[] }
  /** Answer what was sent before, close the files, exit. */
  | { readonly kind: 'close' };

export type FromWorker =
  | { readonly kind: 'ready'; readonly meta: Meta | undefined }
  /** The database cannot be used; `message` says why, for the operator. */
  | { readonly kind: 'refused'; readonly message: string; readonly cause: string }
  | { readonly kind: 'replies'; readonly replies: readonly Reply[] };

export interface WorkerSettings {
  readonly mode: 'writer' | 'reader' | 'checkpointer';
  readonly directory: string;
  /** The number of slots that is configured; a database made with another is refused. */
  readonly slots: number;
  /** Wall clock, ms: when migrations of this start are recorded to have been applied. */
  readonly startedAtMs: number;
  /** The largest database file, in pages of 4,096 bytes; beyond it the disk counts as full. */
  readonly pagesMax: number | undefined;
}
