// Writes of state, confirmed by a quorum. Every row has its own stamp as its timestamp, so the greatest stamp wins, in
// whatever order and however often writes arrive. They travel in batches, which are no transactions here but save
// messages: at the same load, the nodes process twice as many rows. Rows of one partition form one mutation; a few
// small mutations share a batch.
//
// A failed call is repeated with the very same writes. Writes that were already confirmed are not sent again, so a
// repeat makes progress even if a database under load cannot finish all of them within one deadline.

import { inParallel } from '../../../core/async/in-parallel.ts';
import type { StateStore, StateWrite } from '../../store.ts';
import { type Cell, cellsOf, GRANTS_BY_OBJECT, STATE_TABLES, type StateKind } from '../../stored-rows.ts';
import type { Executor, Statement, Value } from '../driver/executor.ts';
import { encodeGrantCount } from './rows.ts';

/** Batches of one call in flight; the batches of all calls together have another bound. */
const BATCHES_AT_ONCE = 8;
/**
 * Bounds of one partition in one batch, in rows and approximate bytes: a mutation is small compared with what a node
 * accepts.
 */
const MUTATION_ROWS_MAX = 64;
const MUTATION_BYTES_MAX = 64 * 1024;
/**
 * Bounds of a batch over several partitions: what Cassandra accepts without a warning
 * (`unlogged_batch_across_partitions_warn_threshold`, `batch_size_warn_threshold`).
 */
const BATCH_MUTATIONS_MAX = 10;
const BATCH_BYTES_MAX = 4 * 1024;
/** Bytes of a row in addition to its text. */
const ROW_BYTES = 100;

/** The other columns of numbers hold bigints. */
const INT_COLUMNS: ReadonlySet<string> = new Set([
  'slot',
  'bucket',
  'position',
  'scopes',
  'place',
  'added',
  'removed',
  'readers',
]);
/** The count of grants is one text: see rows.ts. */
const COUNT_COLUMNS = ['slot', 'tenant', 'count'];

interface StateRow {
  readonly write: StateWrite;
  readonly statement: Statement;
  readonly bytes: number;
}

/** Rows that are sent together. The two rows of a grant are mostly in different batches. */
export interface StateBatch {
  readonly writes: readonly StateWrite[];
  readonly statements: readonly Statement[];
}

/** No cell is ever null: that would be a tombstone. */
function toValue(cell: Cell, column: string): Value {
  if (cell === undefined) return column.endsWith('_ms') ? 0n : '';
  return typeof cell === 'number' && !INT_COLUMNS.has(column) ? BigInt(cell) : cell;
}

/** Length-prefixed, so that no two lists of parts give the same text. */
const partitionOf = (parts: readonly Cell[]): string => parts.map((part) => `${String(part).length}:${part}`).join('');

const columnsOf = (kind: StateKind): readonly string[] =>
  kind === 'grant-count' ? COUNT_COLUMNS : [...STATE_TABLES[kind].key, ...STATE_TABLES[kind].values];

/** The insertion of a row into one table. */
interface Insert {
  readonly columns: readonly string[];
  readonly query: string;
}

export class StateStatements {
  readonly #keyspace: string;
  /** By table. */
  readonly #inserts = new Map<string, Insert>();

  constructor(keyspace: string) {
    this.#keyspace = keyspace;
  }

  batches(writes: readonly StateWrite[]): StateBatch[] {
    const partitions = new Map<string, StateRow[]>();
    const add = (table: string, partition: readonly Cell[], row: StateRow): void => {
      const key = partitionOf([table, ...partition]);
      const rows = partitions.get(key);
      if (rows === undefined) partitions.set(key, [row]);
      else rows.push(row);
    };
    for (const write of writes) {
      const cells =
        write.kind === 'grant-count' ? [write.slot, write.row.tenantId, encodeGrantCount(write.row)] : cellsOf(write);
      const { name, partition } = STATE_TABLES[write.kind];
      const { columns, query } = this.#insertInto(name, write.kind);
      const params = [...cells.map((cell, index) => toValue(cell, columns[index] ?? '')), BigInt(write.stamp)];
      const bytes = params.reduce<number>(
        (sum, value) => sum + (typeof value === 'string' ? value.length : 0),
        ROW_BYTES,
      );
      add(name, cells.slice(0, partition), { write, statement: { query, params }, bytes });
      if (write.kind !== 'grant') continue;
      const { query: other } = this.#insertInto(GRANTS_BY_OBJECT.name, write.kind);
      add(GRANTS_BY_OBJECT.name, [write.tenantId, write.object], { write, statement: { query: other, params }, bytes });
    }
    const mutations = [...partitions.values()].flatMap((rows) => cut(rows, MUTATION_ROWS_MAX, MUTATION_BYTES_MAX));
    return share(mutations).map((rows) => ({
      writes: rows.map(({ write }) => write),
      statements: rows.map(({ statement }) => statement),
    }));
  }

  #insertInto(table: string, kind: StateKind): Insert {
    let insert = this.#inserts.get(table);
    if (insert === undefined) {
      const columns = columnsOf(kind);
      const marks = columns.map(() => '?').join(', ');
      const query = `INSERT INTO ${this.#keyspace}.${table} (${columns.join(', ')}) VALUES (${marks}) USING TIMESTAMP ?`;
      insert = { columns, query };
      this.#inserts.set(table, insert);
    }
    return insert;
  }
}

const bytesOf = (rows: readonly StateRow[]): number => rows.reduce((sum, { bytes }) => sum + bytes, 0);

/** Cuts rows into pieces of bounded rows and bytes; a single row may exceed the bytes. */
function cut(rows: readonly StateRow[], rowsMax: number, bytesMax: number): StateRow[][] {
  const pieces: StateRow[][] = [];
  let piece: StateRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    if (piece.length === rowsMax || (piece.length > 0 && bytes + row.bytes > bytesMax)) {
      pieces.push(piece);
      piece = [];
      bytes = 0;
    }
    piece.push(row);
    bytes += row.bytes;
  }
  if (piece.length > 0) pieces.push(piece);
  return pieces;
}

/** Small mutations share a batch; a large one has its own. */
function share(mutations: readonly StateRow[][]): StateRow[][] {
  const batches: StateRow[][] = [];
  let batch: { readonly rows: StateRow[]; mutations: number; bytes: number } | undefined;
  for (const rows of mutations) {
    const bytes = bytesOf(rows);
    if (batch === undefined || batch.mutations === BATCH_MUTATIONS_MAX || batch.bytes + bytes > BATCH_BYTES_MAX) {
      batch = { rows: [], mutations: 0, bytes: 0 };
      batches.push(batch.rows);
    }
    batch.rows.push(...rows);
    batch.mutations += 1;
    batch.bytes += bytes;
  }
  return batches;
}

export function createStateWrites(
  executor: Executor,
  keyspace: string,
): Pick<StateStore, 'writeState' | 'writeCheckpoint' | 'writeHotPages' | 'writeKeyUse' | 'writeUsage'> {
  const statements = new StateStatements(keyspace);
  const checkpoint = `INSERT INTO ${keyspace}.checkpoints (slot, seq, window_from) VALUES (?, ?, ?) USING TIMESTAMP ?`;
  const keyUse = `INSERT INTO ${keyspace}.key_uses (tenant, key_id, used_at_ms) VALUES (?, ?, ?) USING TIMESTAMP ?`;
  const usage = `INSERT INTO ${keyspace}.usage (tenant, place, counts) VALUES (?, ?, ?) USING TIMESTAMP ?`;
  const hotPages = `INSERT INTO ${keyspace}.hot_pages (slot, pages) VALUES (?, ?) USING TIMESTAMP ?`;
  /** From failed calls. The writes are stamped, so what was confirmed once stays applied. */
  const confirmed = new WeakSet<StateWrite>();
  return {
    async writeState(writes, deadline) {
      const batches = statements.batches(writes.filter((write) => !confirmed.has(write)));
      const pending = new Set<StateBatch>(batches);
      try {
        await inParallel(batches, BATCHES_AT_ONCE, async (batch) => {
          await executor.writeBatch(batch.statements, deadline);
          pending.delete(batch);
        });
      } catch (error) {
        const unconfirmed = new Set([...pending].flatMap((batch) => batch.writes));
        for (const { writes: sent } of batches) {
          for (const write of sent) if (!unconfirmed.has(write)) confirmed.add(write);
        }
        throw error;
      }
    },

    /**
     * Where two values have one timestamp, Cassandra keeps the greater one of each cell: only the cell of the window
     * differs.
     */
    async writeCheckpoint(slot, { seq, stamp, windowFrom }, deadline) {
      await executor.write(checkpoint, [slot, BigInt(seq), BigInt(windowFrom), BigInt(stamp)], deadline);
    },

    /** Stamped with the wall clock, as key uses are. */
    async writeHotPages(slot, list, atMs, deadline) {
      await executor.write(hotPages, [slot, list, BigInt(atMs) * 1000n], deadline);
    },

    /** A use has no stamp: its time in microseconds is the timestamp, so that a later use wins. */
    async writeKeyUse(tenantId, keyId, usedAtMs, deadline) {
      const moment = BigInt(usedAtMs);
      await executor.write(keyUse, [tenantId, keyId, moment, moment * 1000n], deadline);
    },

    /** Stamped with the wall clock, as key uses are. All rows are in one partition. */
    async writeUsage(tenantId, rows, atMs, deadline) {
      const timestamp = BigInt(atMs) * 1000n;
      const statements = rows.map(({ place, counts }) => ({
        query: usage,
        params: [tenantId, place, counts, timestamp],
      }));
      await executor.writeBatch(statements, deadline);
    },
  };
}
