// The store port on SQLite, for one process: a data directory held by a lock, and three threads over one database in
// write-ahead mode. Writes go to one thread, which groups them (writer.ts). Reads go to another, and see every write
// that was confirmed before they were sent. The main thread never waits for the disk.

import { resolve as resolvePath } from 'node:path';
import type { Clock, Timer } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import { segmentOf } from '../../core/slots.ts';
import { MS_PER_DAY, MS_PER_HOUR } from '../../core/text/timestamps.ts';
import type { Log } from '../../telemetry/log.ts';
import {
  AUDIT_LOG_KEPT_DAYS,
  AUDIT_LOG_KEPT_MS,
  type DeadlineMs,
  type Meta,
  type StateWrite,
  type Store,
} from '../store.ts';
import { holdDirectory } from './data-directory.ts';
import type { FlatRow } from './database.ts';
import {
  type CallMap,
  type FlatGrants,
  type ReadCalls,
  toStateBatch,
  type WorkerSettings,
  type WriteCalls,
} from './messages.ts';
import { Damage } from './sqlite-errors.ts';
import { GRANT_WIDTH, grantRowOf, objectGrantRowOf } from './worker/rows.ts';
import { WorkerClient } from './worker-client.ts';

/** After about this many written pages, the checkpointer is asked to move the write-ahead log into the database. */
const CHECKPOINT_PAGES = 4000;
const CHECKPOINT_TIMEOUT_MS = 60_000;
const PAGE_BYTES = 4096;
/** Pages that one bounded part of a purge or an expiry writes, roughly. */
const PURGE_PAGES = 100;
/** Characters of text in a row of state, roughly. */
const STATE_ROW_WEIGHT = 300;

interface CheckpointCalls extends CallMap {
  readonly checkpoint: { readonly args: []; readonly result: undefined };
}

interface Workers {
  readonly writer: WorkerClient<WriteCalls>;
  readonly reader: WorkerClient<ReadCalls>;
  readonly checkpointer: WorkerClient<CheckpointCalls>;
}

type Callers = { readonly [Name in keyof Workers]: Pick<Workers[Name], 'call' | 'forward'> };

export interface SqliteStoreOptions {
  /** Created with mode 0700 if missing. */
  readonly directory: string;
  /** The configured number of slots; a directory created with another number is refused. */
  readonly slots: number;
  readonly clock: Clock;
  readonly log: Log;
  /**
   * The maximum size of the database file in pages of 4,096 bytes; beyond it, the disk counts as full. Default: no
   * bound.
   */
  readonly pagesMax?: number;
  /** Goes on although acknowledged writes are missing. */
  readonly acceptLoss?: boolean;
  /** Names of other files that are in the directory only together with a database. */
  readonly companions?: readonly string[];
}

export interface SqliteStore extends Store {
  /** Shared with all threads that have the store open. */
  readonly damage: Damage;
}

/** How soon damage that was noticed while nothing is asked is logged. */
const DAMAGE_POLL_MS = 500;

/**
 * Opens the store in `directory` and brings its schema up to date. Throws a StoreRefusal that names the directory and
 * the problem.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  const directory = resolvePath(options.directory);
  const hold = holdDirectory(directory, options.companions);
  const damage = new Damage();
  const settings = (mode: WorkerSettings['mode']) => ({
    mode,
    damage: damage.memory,
    acceptLoss: options.acceptLoss ?? false,
    directory,
    slots: options.slots,
    startedAtMs: options.clock.wallMs(),
    pagesMax: options.pagesMax,
  });
  const workers: Workers = {
    writer: new WorkerClient(options, settings('writer')),
    reader: new WorkerClient(options, settings('reader')),
    checkpointer: new WorkerClient(options, settings('checkpointer')),
  };
  try {
    // The writer first: it creates the schema that the others expect.
    const { meta, accepted } = await workers.writer.start();
    for (const reason of accepted) options.log.warn({ directory, reason }, 'going on without what is missing');
    await Promise.all([workers.reader.start(), workers.checkpointer.start()]);
    const watch = watchDamage(options, directory, damage);
    const close = () => {
      watch.cancel();
      return closeWorkers(workers).then(() => hold.release());
    };
    return { ...createStore(workers, options.clock, { meta, isReadOnly: false, close }), damage };
  } catch (error) {
    await closeWorkers(workers);
    hold.release();
    throw error;
  }
}

/**
 * The reads of a store that another thread of this process has opened in `directory`, over a connection of their own.
 * Every other call is refused. A read sees every write that was confirmed before it was sent, in any thread.
 */
export async function openSqliteReads(
  options: SqliteStoreOptions,
  { meta, damage }: { readonly meta: Meta; readonly damage: SharedArrayBuffer },
): Promise<Store> {
  const { clock, slots } = options;
  const directory = resolvePath(options.directory);
  const settings = {
    ...({ mode: 'reader', directory, slots, damage } as const),
    ...{ startedAtMs: clock.wallMs(), pagesMax: undefined, acceptLoss: false },
  };
  const reader = new WorkerClient<ReadCalls>(options, settings);
  await reader.start();
  const refuse = () => Promise.reject(new GrantdError('unavailable', 'This thread only reads the store.'));
  const refused = { call: refuse, forward: () => refuse };
  const close = () => reader.close();
  return createStore({ reader, writer: refused, checkpointer: refused }, clock, { meta, isReadOnly: true, close });
}

/** Logs damage once. The threads notice it; the writer stops by itself. */
function watchDamage({ clock, log }: SqliteStoreOptions, directory: string, damage: Damage): { cancel(): void } {
  let timer: Timer;
  const look = (): void => {
    const { reason } = damage;
    if (reason === undefined) timer = clock.setTimer(look, DAMAGE_POLL_MS);
    else log.error({ directory, reason }, describeDamage(directory, reason));
  };
  timer = clock.setTimer(look, DAMAGE_POLL_MS);
  return { cancel: () => timer.cancel() };
}

/** For the operator: what is wrong, what it means and what to do. */
export function describeDamage(directory: string, reason: string): string {
  return `The data directory ${directory} is damaged: ${reason}. Nothing more is written. Stop the process, keep a copy of the folder, and put the whole folder back from a backup (docs/operating/recovery.md, "The embedded store").`;
}

/** The same of a database whose contents make no sense, although SQLite can read it. */
export function describeUnreadable(
  directory: string,
  { slots, cause }: { readonly slots: number; readonly cause?: unknown },
): string {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return `The data directory ${directory} cannot be used: ${slots} of its slots cannot be opened. The first reason: ${reason} Keep a copy of the folder, and put the whole folder back from a backup (docs/operating/recovery.md, "The embedded store").`;
}

/** The writer last: the last connection to close empties the write-ahead log. */
async function closeWorkers(workers: Workers): Promise<void> {
  await Promise.all([workers.reader.close(), workers.checkpointer.close()]);
  await workers.writer.close();
}

/** Calls the checkpointer whenever enough pages were written. */
function createPageCount({ checkpointer }: Pick<Callers, 'checkpointer'>, clock: Clock): (pages: number) => void {
  let written = 0;
  let running = false;
  const done = () => {
    running = false;
  };
  return (pages) => {
    written += pages;
    if (written < CHECKPOINT_PAGES || running) return;
    written = 0;
    running = true;
    // The worker has logged a failure; in any case, the writer's own checkpoints bound the write-ahead log.
    checkpointer.call('checkpoint', [], clock.monotonicMs() + CHECKPOINT_TIMEOUT_MS).then(done, done);
  };
}

function createStore(
  workers: Callers,
  clock: Clock,
  standing: { readonly meta: Meta | undefined; readonly isReadOnly: boolean; readonly close: () => Promise<void> },
): Store {
  const { writer, reader } = workers;
  const notePages = createPageCount(workers, clock);
  let { meta } = standing;
  /** The log is divided into segments of the size in meta: before meta exists, there is no log. */
  const segment = (seq: number): number => {
    if (meta === undefined) throw new GrantdError('unavailable', 'The store has not been initialized.');
    return segmentOf(seq, meta.segmentSize);
  };
  const expireAuditLog: ConstructorParameters<typeof AuditLogExpiry>[1] = (beforeMonth, after, deadline) => {
    notePages(PURGE_PAGES);
    return writer.call('expireAuditLog', [beforeMonth, after], deadline);
  };
  const auditLogExpiry = standing.isReadOnly ? undefined : new AuditLogExpiry(clock, expireAuditLog);
  let closing: Promise<void> | undefined;

  return {
    readMeta: reader.forward('readMeta'),
    async initializeMeta(wanted, deadline) {
      meta = await writer.call('initializeMeta', [wanted], deadline);
      return meta;
    },
    replaceClusterId: writer.forward('replaceClusterId'),

    async append(record, deadline) {
      notePages(4 + record.body.length / PAGE_BYTES);
      return writer.call('append', [record, segment(record.seq)], deadline, record.body.length);
    },
    async readRecord(slot, seq, deadline) {
      return reader.call('readRecord', [slot, segment(seq), seq], deadline);
    },
    async readRecords(slot, fromSeq, limit, deadline) {
      return reader.call('readRecords', [slot, segment(fromSeq), fromSeq, limit], deadline);
    },
    async readTail(slot, fromSeq, limit, deadline) {
      const of = segment(fromSeq);
      const records = await reader.call('readRecords', [slot, of, fromSeq, limit], deadline);
      if (records.length === limit) return records;
      const next = await reader.call('readRecords', [slot, of + 1, fromSeq, limit - records.length], deadline);
      return [...records, ...next];
    },
    removeSegment: writer.forward('removeSegment'),

    readSlot: reader.forward('readSlot'),
    listSlots: reader.forward('listSlots'),
    listSomeSlots: reader.forward('listSomeSlots'),
    claimSlot: writer.forward('claimSlot'),
    recordOpened: writer.forward('recordOpened'),
    recordFirst: writer.forward('recordFirst'),
    releaseSlot: writer.forward('releaseSlot'),

    insertMember: writer.forward('insertMember'),
    writeHeartbeat: writer.forward('writeHeartbeat'),
    declareDead: writer.forward('declareDead'),
    readMember: reader.forward('readMember'),
    listMembers: reader.forward('listMembers'),
    removeMember: writer.forward('removeMember'),
    // The file is on this machine.
    readClock: async () => undefined,

    writeState(writes, deadline) {
      notePages(writes.length);
      return writer.call('writeState', [toStateBatch(writes)], deadline, weightOf(writes));
    },
    writeCheckpoint(slot, checkpoint, deadline) {
      notePages(1);
      return writer.call('writeCheckpoint', [slot, checkpoint], deadline);
    },
    readCheckpoint: reader.forward('readCheckpoint'),
    readHotPages: reader.forward('readHotPages'),
    writeHotPages: writer.forward('writeHotPages'),
    readGrant: reader.forward('readGrant'),
    async listGrants(query, deadline) {
      const page = await reader.call('listGrants', [query], deadline);
      const next = page.next && { relation: page.next.relation, object: page.next.entity };
      return { grants: unflatten(page, grantRowOf), next };
    },
    async listObjectGrants(query, deadline) {
      const page = await reader.call('listObjectGrants', [query], deadline);
      const next = page.next && { relation: page.next.relation, subject: page.next.entity };
      return { grants: unflatten(page, objectGrantRowOf), next };
    },
    async listGrantsOfEach(query, deadline) {
      const pages = await reader.call('listGrantsOfEach', [query], deadline);
      return pages.map((page) => ({ grants: unflatten(page, grantRowOf), isAll: page.next === undefined }));
    },
    async listObjectGrantsOfEach(query, deadline) {
      const pages = await reader.call('listObjectGrantsOfEach', [query], deadline);
      return pages.map((page) => ({ grants: unflatten(page, objectGrantRowOf), isAll: page.next === undefined }));
    },
    listSubjects: reader.forward('listSubjects'),
    listExpiries: reader.forward('listExpiries'),
    listNamespaces: reader.forward('listNamespaces'),
    readKey: reader.forward('readKey'),
    listKeys: reader.forward('listKeys'),
    listTenants: reader.forward('listTenants'),
    readRules: reader.forward('readRules'),
    listRulesVersions: reader.forward('listRulesVersions'),
    listGrantCounts: reader.forward('listGrantCounts'),
    listAuditLog: reader.forward('listAuditLog'),
    readAuditLogKeptMs: async () => AUDIT_LOG_KEPT_MS,
    listKeyUses: reader.forward('listKeyUses'),
    writeKeyUse: writer.forward('writeKeyUse'),
    readUsage: reader.forward('readUsage'),
    writeUsage: writer.forward('writeUsage'),
    removeTombstones(rows, deadline) {
      notePages(rows.length);
      return writer.call('removeTombstones', [rows], deadline, rows.length * STATE_ROW_WEIGHT);
    },
    removeExpiries(range, stamp, deadline) {
      notePages(PURGE_PAGES);
      return writer.call('removeExpiries', [range, stamp], deadline);
    },
    purgeTenant(tenant, stamp, deadline) {
      notePages(PURGE_PAGES);
      return writer.call('purgeTenant', [tenant, stamp], deadline);
    },

    close() {
      auditLogExpiry?.close();
      closing ??= standing.close();
      return closing;
    },
  };
}

/** Only rules, and the changes of them, are much longer than other rows. */
const weightOf = (writes: readonly StateWrite[]): number =>
  writes.reduce(
    (sum, write) =>
      sum + (write.kind === 'rules' ? write.rules.length : write.kind === 'audit-log' ? write.row.change.length : 0),
    writes.length * STATE_ROW_WEIGHT,
  );

function unflatten<Grant>({ values }: FlatGrants, rowOf: (values: FlatRow, at: number) => Grant): Grant[] {
  const grants: Grant[] = [];
  for (let at = 0; at < values.length; at += GRANT_WIDTH) grants.push(rowOf(values, at));
  return grants;
}

// ---- expiry of the audit log ----
//
// Expires the audit log of the embedded store. On Cassandra each row expires by itself. Here a month is deleted as soon
// as all of it is older than the retention, in parts that fit a few transactions of state, with pauses in between: a
// commit waits for one step of a part at most. The next round repeats a part that failed.

/** A process that starts with a wrong clock has this long to correct it, before anything expires by it. */
const FIRST_ROUND_MS = 10 * 60_000;
const ROUND_MS = MS_PER_HOUR;
/** Between two parts, so that others can write. */
const PAUSE_MS = 100;
const PART_TIMEOUT_MS = 60_000;

/**
 * Deletes a part of the changes before the month. Returns the tenant after which to continue; undefined: nothing is
 * left.
 */
type RemovePart = (beforeMonth: string, after: string, deadline: DeadlineMs) => Promise<string | undefined>;

export class AuditLogExpiry {
  readonly #clock: Clock;
  readonly #removePart: RemovePart;
  #timer: Timer;
  #closed = false;

  constructor(clock: Clock, removePart: RemovePart) {
    this.#clock = clock;
    this.#removePart = removePart;
    this.#timer = this.#next('', FIRST_ROUND_MS);
  }

  close(): void {
    this.#closed = true;
    this.#timer.cancel();
  }

  #next(after: string, delayMs: number): Timer {
    return this.#clock.setTimer(() => void this.#run(after), delayMs);
  }

  async #run(after: string): Promise<void> {
    const keptFromMs = this.#clock.wallMs() - AUDIT_LOG_KEPT_DAYS * MS_PER_DAY;
    const beforeMonth = new Date(Math.max(keptFromMs, 0)).toISOString().slice(0, 7);
    let rest: string | undefined;
    try {
      rest = await this.#removePart(beforeMonth, after, this.#clock.monotonicMs() + PART_TIMEOUT_MS);
    } catch {
      // The worker has logged it.
    }
    if (!this.#closed) this.#timer = rest === undefined ? this.#next('', ROUND_MS) : this.#next(rest, PAUSE_MS);
  }
}
