// The store port on SQLite, for one process: a data directory held by a lock, and three threads over one database in
// write-ahead mode. Writes go to one thread, where they are grouped (writer.ts); reads go to another, and see every
// write that was answered before they were asked. The main thread never waits for the disk.

import { resolve as resolvePath } from 'node:path';
import type { Clock } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import { segmentOf } from '../../core/slots.ts';
import type { Log } from '../../telemetry/log.ts';
import type { DeadlineMs, GrantRow, LogRecord, Meta, StateWrite, Store } from '../store.ts';
import { AuditLogExpiry } from './audit-log-expiry.ts';
import { type DirectoryHold, holdDirectory } from './data-directory.ts';
import type { CallMap, FlatGrants, ReadCalls, WorkerSettings, WriteCalls } from './messages.ts';
import { toStateBatch } from './state-batch.ts';
import { GRANT_WIDTH, grantRowOf } from './worker/rows.ts';
import { Lane } from './worker-client.ts';

/** Pages written, roughly, after which the checkpointer is asked to move the write-ahead log into the database. */
const CHECKPOINT_PAGES = 4000;
const CHECKPOINT_TIMEOUT_MS = 60_000;
const PAGE_BYTES = 4096;
/** Characters of text in a row of state, roughly. */
const STATE_ROW_WEIGHT = 300;

interface CheckpointCalls extends CallMap {
  readonly checkpoint: { readonly args: []; readonly result: undefined };
}

interface Lanes {
  readonly writer: Lane<WriteCalls>;
  readonly reader: Lane<ReadCalls>;
  readonly checkpointer: Lane<CheckpointCalls>;
}

export interface SqliteStoreOptions {
  /** Made with mode 0700 if it is missing. */
  readonly directory: string;
  /** The number of slots that is configured; a directory made with another is refused. */
  readonly slots: number;
  readonly clock: Clock;
  readonly log: Log;
  /** The largest database file, in pages of 4,096 bytes; beyond it the disk counts as full. Default: no bound. */
  readonly pagesMax?: number;
}

/**
 * Opens the store in `directory` and brings its schema up to date. Throws an Error for the operator that names the
 * directory and what is wrong with it.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const directory = resolvePath(options.directory);
  const hold = holdDirectory(directory);
  const settings = (mode: WorkerSettings['mode']): WorkerSettings => ({
    mode,
    directory,
    slots: options.slots,
    startedAtMs: options.clock.wallMs(),
    pagesMax: options.pagesMax,
  });
  const lanes: Lanes = {
    writer: new Lane(options, settings('writer')),
    reader: new Lane(options, settings('reader')),
    checkpointer: new Lane(options, settings('checkpointer')),
  };
  try {
    // The writer first: it makes the schema that the others expect.
    const meta = await lanes.writer.start();
    await Promise.all([lanes.reader.start(), lanes.checkpointer.start()]);
    return new SqliteStore(lanes, hold, options.clock, meta);
  } catch (error) {
    await closeLanes(lanes);
    hold.release();
    throw error;
  }
}

/** The writer last: the last connection that closes empties the write-ahead log. */
async function closeLanes(lanes: Lanes): Promise<void> {
  await Promise.all([lanes.reader.close(), lanes.checkpointer.close()]);
  await lanes.writer.close();
}

class SqliteStore implements Store {
  readonly #writer: Lane<WriteCalls>;
  readonly #reader: Lane<ReadCalls>;
  readonly #lanes: Lanes;
  readonly #hold: DirectoryHold;
  readonly #clock: Clock;
  #meta: Meta | undefined;
  #pagesWritten = 0;
  #checkpointing = false;
  #closing: Promise<void> | undefined;
  readonly #auditLogExpiry: AuditLogExpiry;

  constructor(lanes: Lanes, hold: DirectoryHold, clock: Clock, meta: Meta | undefined) {
    this.#writer = lanes.writer;
    this.#reader = lanes.reader;
    this.#lanes = lanes;
    this.#hold = hold;
    this.#clock = clock;
    this.#meta = meta;
    this.#auditLogExpiry = new AuditLogExpiry(clock, (beforeMonth, after, deadline) => {
      this.#notePages(100);
      return this.#writer.call('expireAuditLog', [beforeMonth, after], deadline);
    });
  }

  async readMeta(deadline: DeadlineMs): Promise<Meta | undefined> {
    return this.#reader.call('readMeta', [], deadline);
  }

  async initializeMeta(meta: Meta, deadline: DeadlineMs): Promise<Meta> {
    this.#meta = await this.#writer.call('initializeMeta', [meta], deadline);
    return this.#meta;
  }

  async append(record: LogRecord, deadline: DeadlineMs): ReturnType<Store['append']> {
    this.#notePages(4 + record.body.length / PAGE_BYTES);
    return this.#writer.call('append', [record, this.#segment(record.seq)], deadline, record.body.length);
  }

  async readRecord(slot: number, seq: number, deadline: DeadlineMs): ReturnType<Store['readRecord']> {
    return this.#reader.call('readRecord', [slot, this.#segment(seq), seq], deadline);
  }

  async readRecords(
    slot: number,
    fromSeq: number,
    limit: number,
    deadline: DeadlineMs,
  ): ReturnType<Store['readRecords']> {
    return this.#reader.call('readRecords', [slot, this.#segment(fromSeq), fromSeq, limit], deadline);
  }

  removeSegment(slot: number, segment: number, deadline: DeadlineMs): Promise<void> {
    return this.#writer.call('removeSegment', [slot, segment], deadline);
  }

  readSlot(slot: number, deadline: DeadlineMs): ReturnType<Store['readSlot']> {
    return this.#reader.call('readSlot', [slot], deadline);
  }

  listSlots(deadline: DeadlineMs): ReturnType<Store['listSlots']> {
    return this.#reader.call('listSlots', [], deadline);
  }

  claimSlot(claim: Parameters<Store['claimSlot']>[0], deadline: DeadlineMs): ReturnType<Store['claimSlot']> {
    return this.#writer.call('claimSlot', [claim], deadline);
  }

  recordOpened(opened: Parameters<Store['recordOpened']>[0], deadline: DeadlineMs): ReturnType<Store['recordOpened']> {
    return this.#writer.call('recordOpened', [opened], deadline);
  }

  recordFirst(first: Parameters<Store['recordFirst']>[0], deadline: DeadlineMs): ReturnType<Store['recordFirst']> {
    return this.#writer.call('recordFirst', [first], deadline);
  }

  releaseSlot(release: Parameters<Store['releaseSlot']>[0], deadline: DeadlineMs): ReturnType<Store['releaseSlot']> {
    return this.#writer.call('releaseSlot', [release], deadline);
  }

  insertMember(member: Parameters<Store['insertMember']>[0], deadline: DeadlineMs): ReturnType<Store['insertMember']> {
    return this.#writer.call('insertMember', [member], deadline);
  }

  beatMember(beat: Parameters<Store['beatMember']>[0], deadline: DeadlineMs): ReturnType<Store['beatMember']> {
    return this.#writer.call('beatMember', [beat], deadline);
  }

  declareDead(dead: Parameters<Store['declareDead']>[0], deadline: DeadlineMs): ReturnType<Store['declareDead']> {
    return this.#writer.call('declareDead', [dead], deadline);
  }

  readMember(incarnation: string, deadline: DeadlineMs): ReturnType<Store['readMember']> {
    return this.#reader.call('readMember', [incarnation], deadline);
  }

  listMembers(deadline: DeadlineMs): ReturnType<Store['listMembers']> {
    return this.#reader.call('listMembers', [], deadline);
  }

  removeMember(incarnation: string, deadline: DeadlineMs): Promise<void> {
    return this.#writer.call('removeMember', [incarnation], deadline);
  }

  writeState(writes: readonly StateWrite[], deadline: DeadlineMs): Promise<void> {
    this.#notePages(writes.length);
    return this.#writer.call('writeState', [toStateBatch(writes)], deadline, writes.length * STATE_ROW_WEIGHT);
  }

  writeCheckpoint(...args: Parameters<Store['writeCheckpoint']>): Promise<void> {
    const [slot, checkpoint, deadline] = args;
    this.#notePages(1);
    return this.#writer.call('writeCheckpoint', [slot, checkpoint], deadline);
  }

  readCheckpoint(slot: number, deadline: DeadlineMs): ReturnType<Store['readCheckpoint']> {
    return this.#reader.call('readCheckpoint', [slot], deadline);
  }

  readGrant(...args: Parameters<Store['readGrant']>): ReturnType<Store['readGrant']> {
    const [tenantId, subject, relation, object, deadline] = args;
    return this.#reader.call('readGrant', [tenantId, subject, relation, object], deadline);
  }

  async listGrants(query: Parameters<Store['listGrants']>[0], deadline: DeadlineMs): ReturnType<Store['listGrants']> {
    return unflatten(await this.#reader.call('listGrants', [query], deadline));
  }

  listSubjects(query: Parameters<Store['listSubjects']>[0], deadline: DeadlineMs): ReturnType<Store['listSubjects']> {
    return this.#reader.call('listSubjects', [query], deadline);
  }

  listNamespaces(...args: Parameters<Store['listNamespaces']>): ReturnType<Store['listNamespaces']> {
    const [tenantId, deadline] = args;
    return this.#reader.call('listNamespaces', [tenantId], deadline);
  }

  readKey(...[tenantId, keyId, deadline]: Parameters<Store['readKey']>): ReturnType<Store['readKey']> {
    return this.#reader.call('readKey', [tenantId, keyId], deadline);
  }

  listKeys(query: Parameters<Store['listKeys']>[0], deadline: DeadlineMs): ReturnType<Store['listKeys']> {
    return this.#reader.call('listKeys', [query], deadline);
  }

  listTenants(query: Parameters<Store['listTenants']>[0], deadline: DeadlineMs): ReturnType<Store['listTenants']> {
    return this.#reader.call('listTenants', [query], deadline);
  }

  listGrantCounts(...args: Parameters<Store['listGrantCounts']>): ReturnType<Store['listGrantCounts']> {
    const [query, deadline] = args;
    return this.#reader.call('listGrantCounts', [query], deadline);
  }

  listTrail(query: Parameters<Store['listTrail']>[0], deadline: DeadlineMs): ReturnType<Store['listTrail']> {
    return this.#reader.call('listTrail', [query], deadline);
  }

  listKeyUses(...args: Parameters<Store['listKeyUses']>): ReturnType<Store['listKeyUses']> {
    const [tenantId, keyIds, deadline] = args;
    return this.#reader.call('listKeyUses', [tenantId, keyIds], deadline);
  }

  writeKeyUse(...args: Parameters<Store['writeKeyUse']>): Promise<void> {
    const [tenantId, keyId, usedAtMs, deadline] = args;
    return this.#writer.call('writeKeyUse', [tenantId, keyId, usedAtMs], deadline);
  }

  removeGone(rows: Parameters<Store['removeGone']>[0], deadline: DeadlineMs): Promise<void> {
    this.#notePages(rows.length);
    return this.#writer.call('removeGone', [rows], deadline, rows.length * STATE_ROW_WEIGHT);
  }

  purgeTenant(...args: Parameters<Store['purgeTenant']>): Promise<boolean> {
    const [tenant, stamp, deadline] = args;
    this.#notePages(100);
    return this.#writer.call('purgeTenant', [tenant, stamp], deadline);
  }

  close(): Promise<void> {
    this.#auditLogExpiry.close();
    this.#closing ??= closeLanes(this.#lanes).then(() => this.#hold.release());
    return this.#closing;
  }

  /** The log is cut into segments of the size that meta fixes: before meta stands there is no log. */
  #segment(seq: number): number {
    if (this.#meta === undefined) throw new GrantdError('unavailable', 'The store has not been initialized.');
    return segmentOf(seq, this.#meta.segmentSize);
  }

  #notePages(pages: number): void {
    this.#pagesWritten += pages;
    if (this.#pagesWritten < CHECKPOINT_PAGES || this.#checkpointing) return;
    this.#pagesWritten = 0;
    this.#checkpointing = true;
    const done = () => {
      this.#checkpointing = false;
    };
    // A failure was logged by the lane; the writer's own checkpoints bound the write-ahead log in any case.
    this.#lanes.checkpointer.call('checkpoint', [], this.#clock.monotonicMs() + CHECKPOINT_TIMEOUT_MS).then(done, done);
  }
}

function unflatten({ values, next }: FlatGrants): Awaited<ReturnType<Store['listGrants']>> {
  const grants: GrantRow[] = [];
  for (let at = 0; at < values.length; at += GRANT_WIDTH) grants.push(grantRowOf(values, at));
  return { grants, next };
}
