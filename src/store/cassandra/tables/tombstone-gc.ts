// Deletes rows that are no longer needed (revoked grants and keys, deleted tenants, subjects without grants), at every
// replica. A deletion leaves a Cassandra tombstone for some days, and a read that meets too many of them fails. So
// tombstones are kept few: one deletion covers a run of neighbouring rows and the gaps on both sides, up to the next
// live rows. If a whole stretch is deleted bit by bit, in any order, each deletion also covers its neighbours, and one
// tombstone remains.
//
// This is safe because of when it is called: state holds every entry of the log up to the stamps of the targets and
// beyond. So a row that is missing now, at a quorum, has no older write in flight. A write that still arrives is newer,
// and survives. A live row next to a deleted one is never covered.

import { assertNever } from '../../../core/assert.ts';
import { inParallel } from '../../../core/async/in-parallel.ts';
import { bucketOfSubject } from '../../../core/slots.ts';
import type { DeadlineMs, RemovableRow, Stamp, StateStore } from '../../store.ts';
import { integerAt, textAt } from '../../stored-rows.ts';
import type { Executor, Row, Value } from '../driver/executor.ts';
import { booleanAt } from './rows.ts';

/** Pieces of tables that are processed at once. */
const PIECES_AT_ONCE = 16;
/** Deletable grants are scattered among live ones, so a piece takes long; rows of the other kinds are neighbours. */
const GRANTS_PER_PIECE = 32;
const ROWS_PER_PIECE = 512;
/** Rows read at first, and at most, to find the end of a run. */
const RUN_ROWS_FIRST = 2;
const RUN_ROWS_MAX = 1024;
/** A key use has a wall-clock time, and the clocks of owners may differ. A revoked key is not used again. */
const USE_MARGIN_US = 24 * 3_600_000_000;

/** How the rows of one kind are stored. */
interface Table {
  readonly name: string;
  /** The columns before the one that orders the rows of a piece. */
  readonly prefix: readonly string[];
  readonly column: string;
  readonly descending: string;
  /** The columns that `canGo` needs. */
  readonly selected: string;
  /** Whether the row of a target can be deleted. */
  readonly canGo: (row: Row, stamp: Stamp) => boolean;
}

const isTombstone = (row: Row, stamp: Stamp): boolean => booleanAt(row, 'gone') && integerAt(row, 'stamp') <= stamp;

/** A grant has a row in two tables. */
type Kind = RemovableRow['kind'] | 'object-grant';

const TABLES: Readonly<Record<Kind, Table>> = {
  grant: {
    name: 'grants',
    prefix: ['tenant', 'subject', 'relation'],
    column: 'object',
    descending: 'relation DESC, object DESC',
    selected: 'object, gone, writetime(gone) AS stamp',
    canGo: isTombstone,
  },
  'object-grant': {
    name: 'grants_by_object',
    prefix: ['tenant', 'object', 'relation'],
    column: 'subject',
    descending: 'relation DESC, subject DESC',
    selected: 'subject, gone, writetime(gone) AS stamp',
    canGo: isTombstone,
  },
  subject: {
    name: 'subjects',
    prefix: ['tenant', 'bucket'],
    column: 'subject',
    descending: 'subject DESC',
    selected: 'subject',
    // A row that was written again is newer than the deletion, which does not affect it.
    canGo: () => true,
  },
  key: {
    name: 'keys',
    prefix: ['tenant'],
    column: 'key_id',
    descending: 'key_id DESC',
    selected: 'key_id, gone, writetime(gone) AS stamp',
    canGo: isTombstone,
  },
  tenant: {
    name: 'tenants',
    prefix: ['slot'],
    column: 'tenant',
    descending: 'tenant DESC',
    selected: 'tenant, state, writetime(state) AS stamp',
    canGo: (row, stamp) => textAt(row, 'state') === 'deleted' && integerAt(row, 'stamp') <= stamp,
  },
};

interface Target {
  /** The value of the column that orders the rows of its piece. */
  readonly at: string;
  readonly stamp: Stamp;
}

/** Targets of one kind and prefix, ascending by bytes. */
interface Piece {
  readonly kind: Kind;
  readonly prefix: readonly Value[];
  readonly targets: readonly Target[];
}

/** A stretch of deletable rows, and the live row after it (undefined: none up to the end of the prefix). */
interface Run {
  readonly first: string;
  readonly last: string;
  readonly next: string | undefined;
  /** Whether the read ended before the run did: the row after it is unknown. */
  readonly open: boolean;
}

const byBytes = (left: string, right: string): number => Buffer.compare(Buffer.from(left), Buffer.from(right));

interface Place {
  readonly kind: Kind;
  readonly prefix: readonly (string | number)[];
  readonly at: string;
}

function placesOf(row: RemovableRow): readonly Place[] {
  switch (row.kind) {
    case 'grant': {
      const { tenantId, subject, relation, object } = row;
      return [
        { kind: 'grant', prefix: [tenantId, subject, relation], at: object },
        { kind: 'object-grant', prefix: [tenantId, object, relation], at: subject },
      ];
    }
    case 'subject':
      return [{ kind: 'subject', prefix: [row.tenantId, bucketOfSubject(row.subject)], at: row.subject }];
    case 'key':
      return [{ kind: 'key', prefix: [row.tenantId], at: row.keyId }];
    case 'tenant':
      return [{ kind: 'tenant', prefix: [row.slot], at: row.tenantId }];
    default:
      return assertNever(row);
  }
}

function toPieces(rows: readonly RemovableRow[]): Piece[] {
  const groups = new Map<string, Piece & { readonly targets: Target[] }>();
  for (const row of rows) {
    const { stamp } = row;
    for (const { kind, prefix, at } of placesOf(row)) {
      const key = JSON.stringify([kind, ...prefix]);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, { kind, prefix, targets: [{ at, stamp }] });
      else group.targets.push({ at, stamp });
    }
  }
  return [...groups.values()].flatMap((group) => {
    const sorted = group.targets.toSorted((left, right) => byBytes(left.at, right.at));
    const pieces: Piece[] = [];
    const scattered = group.kind === 'grant' || group.kind === 'object-grant';
    const length = scattered ? GRANTS_PER_PIECE : ROWS_PER_PIECE;
    for (let start = 0; start < sorted.length; start += length) {
      pieces.push({ ...group, targets: sorted.slice(start, start + length) });
    }
    return pieces;
  });
}

interface Statements {
  readonly forward: string;
  readonly backward: string;
  /** The bounds are appended to it. */
  readonly removal: string;
}

function statementsOf(keyspace: string, { name, prefix, column, descending, selected }: Table): Statements {
  const where = `${keyspace}.${name} WHERE ${prefix.map((each) => `${each} = ?`).join(' AND ')}`;
  return {
    forward: `SELECT ${selected} FROM ${where} AND ${column} >= ? LIMIT ?`,
    backward: `SELECT ${column} FROM ${where} AND ${column} < ? ORDER BY ${descending} LIMIT 1`,
    removal: `DELETE FROM ${where.replace(' WHERE', ' USING TIMESTAMP ? WHERE')}`,
  };
}

export function createRowRemoval(executor: Executor, keyspace: string): StateStore['removeTombstones'] {
  const statements: Readonly<Record<Kind, Statements>> = {
    grant: statementsOf(keyspace, TABLES.grant),
    'object-grant': statementsOf(keyspace, TABLES['object-grant']),
    subject: statementsOf(keyspace, TABLES.subject),
    key: statementsOf(keyspace, TABLES.key),
    tenant: statementsOf(keyspace, TABLES.tenant),
  };
  const keyUses = `DELETE FROM ${keyspace}.key_uses USING TIMESTAMP ? WHERE tenant = ? AND key_id >= ? AND key_id <= ?`;

  /** The run of deletable rows from the first target on, and how many targets that covers. */
  async function findRun(
    { kind, prefix }: Piece,
    targets: readonly Target[],
    deadline: DeadlineMs,
  ): Promise<{ run: Run | undefined; dealtWith: number }> {
    const { column, canGo } = TABLES[kind];
    const stamps = new Map(targets.map(({ at, stamp }) => [at, stamp]));
    const from = targets[0]?.at ?? '';
    for (let limit = RUN_ROWS_FIRST; ; limit = Math.min(limit * 8, RUN_ROWS_MAX)) {
      const rows = await executor.readAll(statements[kind].forward, [...prefix, from, limit], deadline);
      let run: { first: string; last: string } | undefined;
      for (const row of rows) {
        const at = textAt(row, column);
        const stamp = stamps.get(at);
        if (stamp !== undefined && canGo(row, stamp)) {
          run = { first: run?.first ?? at, last: at };
          continue;
        }
        // This row is live. Targets before it are covered. If no row before it was deletable, so is the target that is
        // this row.
        const dealtWith = targets.filter((target) => byBytes(target.at, at) <= 0).length;
        return { run: run === undefined ? undefined : { ...run, next: at, open: false }, dealtWith };
      }
      const isEnd = rows.length < limit;
      if (isEnd || limit === RUN_ROWS_MAX) {
        const last = run?.last ?? from;
        const dealtWith = isEnd ? targets.length : targets.filter((target) => byBytes(target.at, last) <= 0).length;
        return { run: run === undefined ? undefined : { ...run, next: undefined, open: !isEnd }, dealtWith };
      }
    }
  }

  async function removeRun({ kind, prefix }: Piece, run: Run, stamp: Stamp, deadline: DeadlineMs): Promise<void> {
    const { column } = TABLES[kind];
    const { backward, removal } = statements[kind];
    // This comes first: once its key is deleted, a use would never be found again.
    if (kind === 'key') {
      await executor.writeToAll(keyUses, [BigInt(stamp + USE_MARGIN_US), ...prefix, run.first, run.last], deadline);
    }
    const rows = await executor.readAll(backward, [...prefix, run.first], deadline);
    const before = rows.map((row) => textAt(row, column))[0];
    const bounds: string[] = [];
    const values: Value[] = [];
    if (before !== undefined) {
      bounds.push(` AND ${column} > ?`);
      values.push(before);
    }
    if (run.open) {
      bounds.push(` AND ${column} <= ?`);
      values.push(run.last);
    } else if (run.next !== undefined) {
      bounds.push(` AND ${column} < ?`);
      values.push(run.next);
    }
    await executor.writeToAll(`${removal}${bounds.join('')}`, [BigInt(stamp), ...prefix, ...values], deadline);
  }

  async function removePiece(piece: Piece, stamp: Stamp, deadline: DeadlineMs): Promise<void> {
    let { targets } = piece;
    while (targets.length > 0) {
      const { run, dealtWith } = await findRun(piece, targets, deadline);
      if (run !== undefined) await removeRun(piece, run, stamp, deadline);
      targets = targets.slice(Math.max(1, dealtWith));
    }
  }

  return async (rows, deadline) => {
    // One timestamp for all, so that neighbouring deletions merge. No covered row that must stay is older.
    const stamp = rows.reduce((greatest, row) => Math.max(greatest, row.stamp), 0);
    await inParallel(toPieces(rows), PIECES_AT_ONCE, (piece) => removePiece(piece, stamp, deadline));
  };
}
