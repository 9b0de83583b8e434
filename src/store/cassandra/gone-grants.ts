// Real removal of revoked grants, at every replica. A removal leaves a tombstone for some days, and a read that comes across
// too many of them fails, so they are kept few: one removal covers a run of neighbouring revoked rows, and the gaps on
// both sides of it up to the next rows that stand. Where a whole stretch is revoked bit by bit, in any order, each
// removal takes in those beside it, and one is left.
//
// That is safe because of when it is called: state holds every entry of the log up to and past the revocations. So a row
// that is not there now, at a quorum, has no write on its way that is older than they are; and one that comes is newer,
// and stands. A row is removed only where it is gone and no newer than its target; what stands beside it is never covered.

import { inParallel } from '../../core/in-parallel.ts';
import type { Relation } from '../../core/tuples.ts';
import type { DeadlineMs, StateStore } from '../store.ts';
import { readWhole } from './read-whole.ts';
import { booleanAt, integerAt, textAt } from './rows.ts';
import type { Session, Value } from './session.ts';

/** Subjects, or pieces of a subject, that are worked on at once. */
const PIECES_AT_ONCE = 16;
const PIECE_TARGETS_MAX = 32;
/** Rows read at first to find how far a run goes, and at most. */
const RUN_ROWS_FIRST = 2;
const RUN_ROWS_MAX = 1024;

type Target = Parameters<StateStore['removeGone']>[0][number];

/** Targets of one subject and relation, ascending by the bytes of the object. */
interface Piece {
  readonly tenantId: string;
  readonly subject: string;
  readonly relation: Relation;
  readonly targets: readonly Target[];
}

/** A stretch of rows that can go, and the row that stands behind it (undefined: none up to the end of the relation). */
interface Run {
  readonly first: string;
  readonly last: string;
  readonly next: string | undefined;
  /** Whether the reading ended before the run did: what stands behind it is not known. */
  readonly open: boolean;
}

const byBytes = (left: string, right: string): number => Buffer.compare(Buffer.from(left), Buffer.from(right));

function toPieces(targets: readonly Target[]): Piece[] {
  const groups = new Map<string, Target[]>();
  for (const target of targets) {
    const key = JSON.stringify([target.tenantId, target.subject, target.relation]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [target]);
    else group.push(target);
  }
  return [...groups.values()].flatMap((group) => {
    const sorted = group.toSorted((left, right) => byBytes(left.object, right.object));
    const pieces: Piece[] = [];
    for (let start = 0; start < sorted.length; start += PIECE_TARGETS_MAX) {
      const part = sorted.slice(start, start + PIECE_TARGETS_MAX);
      const [first] = part;
      if (first === undefined) break;
      const { tenantId, subject, relation } = first;
      pieces.push({ tenantId, subject, relation, targets: part });
    }
    return pieces;
  });
}

export function createGoneRemoval(session: Session, keyspace: string): StateStore['removeGone'] {
  const relation = `${keyspace}.grants WHERE tenant = ? AND subject = ? AND relation = ?`;
  const forward = `SELECT object, gone, writetime(gone) AS stamp FROM ${relation} AND object >= ? LIMIT ?`;
  const backward = `SELECT object FROM ${relation} AND object < ? ORDER BY relation DESC, object DESC LIMIT 1`;
  const removal = (bounds: string): string =>
    `DELETE FROM ${keyspace}.grants USING TIMESTAMP ? WHERE tenant = ? AND subject = ? AND relation = ?${bounds}`;

  /** The run of rows that can go from the first target on, and how many targets are dealt with. */
  async function findRun(
    piece: Piece,
    targets: readonly Target[],
    deadline: DeadlineMs,
  ): Promise<{ run: Run | undefined; dealtWith: number }> {
    const stamps = new Map(targets.map((target) => [target.object, target.stamp]));
    const from = targets[0]?.object ?? '';
    for (let limit = RUN_ROWS_FIRST; ; limit = Math.min(limit * 8, RUN_ROWS_MAX)) {
      const params = [piece.tenantId, piece.subject, piece.relation, from, limit];
      const rows = await readWhole(session, forward, params, deadline);
      let run: { first: string; last: string } | undefined;
      for (const row of rows) {
        const object = textAt(row, 'object');
        const stamp = stamps.get(object);
        const canGo = stamp !== undefined && booleanAt(row, 'gone') && integerAt(row, 'stamp') <= stamp;
        if (canGo) {
          run = { first: run?.first ?? object, last: object };
          continue;
        }
        // It stands. Targets before it are dealt with; if nothing could go so far, so is what it is itself.
        const dealtWith = targets.filter((target) => byBytes(target.object, object) <= 0).length;
        return { run: run === undefined ? undefined : { ...run, next: object, open: false }, dealtWith };
      }
      const isEnd = rows.length < limit;
      if (isEnd || limit === RUN_ROWS_MAX) {
        const last = run?.last ?? from;
        const dealtWith = isEnd ? targets.length : targets.filter((target) => byBytes(target.object, last) <= 0).length;
        return { run: run === undefined ? undefined : { ...run, next: undefined, open: !isEnd }, dealtWith };
      }
    }
  }

  async function removeRun(piece: Piece, run: Run, stamp: number, deadline: DeadlineMs): Promise<void> {
    const partition = [piece.tenantId, piece.subject, piece.relation];
    const rows = await readWhole(session, backward, [...partition, run.first], deadline);
    const before = rows.map((row) => textAt(row, 'object'))[0];
    const bounds: string[] = [];
    const objects: Value[] = [];
    if (before !== undefined) {
      bounds.push(' AND object > ?');
      objects.push(before);
    }
    if (run.open) {
      bounds.push(' AND object <= ?');
      objects.push(run.last);
    } else if (run.next !== undefined) {
      bounds.push(' AND object < ?');
      objects.push(run.next);
    }
    await session.writeToAll(removal(bounds.join('')), [BigInt(stamp), ...partition, ...objects], deadline);
  }

  async function removePiece(piece: Piece, stamp: number, deadline: DeadlineMs): Promise<void> {
    let { targets } = piece;
    while (targets.length > 0) {
      const { run, dealtWith } = await findRun(piece, targets, deadline);
      if (run !== undefined) await removeRun(piece, run, stamp, deadline);
      targets = targets.slice(Math.max(1, dealtWith));
    }
  }

  return async (grants, deadline) => {
    // One timestamp for all, so that removals side by side become one. No row that is not removed is older than it.
    const stamp = grants.reduce((greatest, grant) => Math.max(greatest, grant.stamp), 0);
    await inParallel(toPieces(grants), PIECES_AT_ONCE, (piece) => removePiece(piece, stamp, deadline));
  };
}
