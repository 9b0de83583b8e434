// The messages between the main thread and the store's worker threads: plain arrays and objects. The calls are those of
// the store port without their deadline, which the main side keeps. Many rows (a batch of state, a page of grants)
// travel as one flat array, which is many times cheaper to copy than an array of objects.

import type { Relation } from '../../core/tuples.ts';
import type { AppendOutcome, DeadlineMs, LogRecord, Meta, StateWrite, Store } from '../store.ts';
import { cellsOf, type StateKind } from '../stored-rows.ts';
import type { FlatRow } from './database.ts';

type Call<Method> = Method extends (...args: [...infer Args, DeadlineMs]) => Promise<infer Result>
  ? { readonly args: Args; readonly result: Result }
  : never;

type Calls<Name extends keyof Store> = { readonly [Each in Name]: Call<Store[Each]> };

export type CallMap = Readonly<Record<string, { readonly args: readonly unknown[]; readonly result: unknown }>>;

/** Executed together in one durable transaction; the reply follows its commit. */
export type ConditionalCalls = Calls<
  | 'initializeMeta'
  | 'replaceClusterId'
  | 'claimSlot'
  | 'recordOpened'
  | 'recordFirst'
  | 'releaseSlot'
  | 'insertMember'
  | 'writeHeartbeat'
  | 'declareDead'
  | 'removeMember'
> & {
  readonly append: { readonly args: [record: LogRecord, segment: number]; readonly result: AppendOutcome };
};

export type Value = string | number | null;

/** The rows of a `writeState` by table: for each row its cells and its stamp, one row after another. */
export type StateBatch = Readonly<Record<StateKind, Value[]>>;

export function toStateBatch(writes: readonly StateWrite[]): StateBatch {
  const batch: StateBatch = {
    subject: [],
    grant: [],
    expiry: [],
    namespace: [],
    key: [],
    tenant: [],
    rules: [],
    'audit-log': [],
    'grant-count': [],
  };
  for (const write of writes) {
    const values = batch[write.kind];
    for (const cell of cellsOf(write)) values.push(typeof cell === 'boolean' ? Number(cell) : (cell ?? null));
    values.push(write.stamp);
  }
  return batch;
}

/** Executed in slices, in transactions that become durable with a later durable transaction at the latest. */
export type StateCalls = Calls<
  | 'removeSegment'
  | 'writeCheckpoint'
  | 'writeHotPages'
  | 'writeKeyUse'
  | 'writeUsage'
  | 'removeTombstones'
  | 'removeExpiries'
  | 'purgeTenant'
> & {
  readonly writeState: { readonly args: [batch: StateBatch]; readonly result: Call<Store['writeState']>['result'] };
  /**
   * Deletes a bounded part of the changes before the month in the audit logs of the tenants after `after`. Resolves to
   * the tenant after which to continue; undefined: nothing is left.
   */
  readonly expireAuditLog: { readonly args: [beforeMonth: string, after: string]; readonly result: string | undefined };
};

/** A page of grants: relation, object (or subject) and attributes of each, one grant after another. */
export interface FlatGrants {
  readonly values: FlatRow;
  readonly next: { readonly relation: Relation; readonly entity: string } | undefined;
}

export type ReadCalls = Calls<
  | 'readMeta'
  | 'readSlot'
  | 'listSlots'
  | 'listSomeSlots'
  | 'readMember'
  | 'listMembers'
  | 'readCheckpoint'
  | 'readHotPages'
  | 'readGrant'
  | 'listSubjects'
  | 'listExpiries'
  | 'listNamespaces'
  | 'readKey'
  | 'listKeys'
  | 'listTenants'
  | 'readRules'
  | 'listRulesVersions'
  | 'listGrantCounts'
  | 'listAuditLog'
  | 'listKeyUses'
  | 'readUsage'
> & {
  readonly readRecord: {
    readonly args: [slot: number, segment: number, seq: number];
    readonly result: LogRecord | undefined;
  };
  readonly readRecords: {
    readonly args: [slot: number, segment: number, fromSeq: number, limit: number];
    readonly result: readonly LogRecord[];
  };
  readonly listGrants: { readonly args: Call<Store['listGrants']>['args']; readonly result: FlatGrants };
  readonly listGrantsOfEach: {
    readonly args: Call<Store['listGrantsOfEach']>['args'];
    readonly result: readonly FlatGrants[];
  };
  readonly listObjectGrants: { readonly args: Call<Store['listObjectGrants']>['args']; readonly result: FlatGrants };
  readonly listObjectGrantsOfEach: {
    readonly args: Call<Store['listObjectGrantsOfEach']>['args'];
    readonly result: readonly FlatGrants[];
  };
};

export type WriteCalls = ConditionalCalls & StateCalls;

/** One function per call, which runs to its end. */
export type Handlers<Each extends CallMap> = {
  readonly [Name in keyof Each]: (...args: Each[Name]['args']) => Each[Name]['result'];
};

/** One generator per call: each step does a bounded part within the current transaction. */
export type SteppedHandlers<Each extends CallMap> = {
  readonly [Name in keyof Each]: (...args: Each[Name]['args']) => Generator<undefined, Each[Name]['result'], undefined>;
};

export interface Request {
  readonly id: number;
  readonly name: string;
  readonly args: readonly unknown[];
}

/** Why a call failed: one of a fixed set of reasons, and SQLite's own message for the log. */
export interface Failure {
  readonly reason: string;
  readonly message: string;
}

export type Reply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly failure: Failure };

export type ToWorker =
  | { readonly kind: 'calls'; readonly requests: readonly Request[] }
  /** Reply to all earlier calls, close the files, exit. */
  | { readonly kind: 'close' };

/** What the writer has found at its start; the others look at nothing. */
export interface WriterFindings {
  readonly meta: Meta | undefined;
  /** Losses, certain or possible, that were accepted. */
  readonly accepted: readonly string[];
}

export type FromWorker =
  | { readonly kind: 'ready'; readonly found: WriterFindings }
  /** The database cannot be used; `message` is the reason, for the operator. */
  | { readonly kind: 'refused'; readonly message: string; readonly cause: string }
  | { readonly kind: 'replies'; readonly replies: readonly Reply[] };

export interface WorkerSettings {
  readonly mode: 'writer' | 'reader' | 'checkpointer';
  readonly directory: string;
  /** The configured number of slots; a database created with another number is refused. */
  readonly slots: number;
  /** Wall clock, ms: the recorded time of the migrations that this start applies. */
  readonly startedAtMs: number;
  /** The maximum size of the database file in pages of 4,096 bytes; beyond it, the disk counts as full. */
  readonly pagesMax: number | undefined;
  /** That of all threads (sqlite-errors.ts). */
  readonly damage: SharedArrayBuffer;
  /** Whether a start may go on although acknowledged writes are missing. */
  readonly acceptLoss: boolean;
  /** Whether this thread is not started again after it ended by itself. */
  readonly isFirst: boolean;
}
