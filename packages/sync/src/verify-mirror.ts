// Compares a mirror with a snapshot of its own, both as of one entry, grant by grant.

import type { MirrorSource } from './mirror.ts';
import { type MirrorWatch, takeSnapshot } from './run-mirror.ts';
import type { MirrorState, SqlMirror } from './sql-mirror.ts';

const PAUSE_MS = 200;
const SHOWN_MAX = 20;
const COMPARED = 'object, relation, subject, expires_at, conditional';

export interface Verification {
  readonly seq: number;
  readonly differences: number;
  readonly lines: readonly string[];
}

/** Undefined: interrupted. The process that keeps the mirror goes on meanwhile. */
export async function compareMirror(run: {
  readonly source: MirrorSource;
  readonly mirror: SqlMirror;
  readonly watch: MirrorWatch;
  readonly nowMs: () => number;
  /** False: interrupted. */
  pause(delayMs: number): Promise<boolean>;
}): Promise<Verification | undefined> {
  const { mirror, pause, nowMs } = run;
  const { database } = mirror;
  let state: MirrorState | undefined = await mirror.state();
  while (state === undefined) {
    if (!(await pause(PAUSE_MS))) return undefined;
    state = await mirror.state();
  }
  try {
    const place = await takeSnapshot(run, 'grants_verified', state.pairs);
    if (place === undefined) return undefined;
    while (((await mirror.state())?.seq ?? 0) < place.seq) if (!(await pause(PAUSE_MS))) return undefined;
    // What has expired may have been collected already, or not yet.
    const as = (table: string): string => `SELECT ${COMPARED} FROM ${database.table(table)}
  WHERE since <= $1 AND $1 < until AND (expires_at IS NULL OR expires_at > $2)`;
    const [mine, fresh] = [as('grants'), as('grants_verified')];
    const values = [place.seq, nowMs()];
    const differences = await database.run(
      `SELECT 'too many' AS what, d.* FROM (${mine} EXCEPT ${fresh}) AS d
UNION ALL SELECT 'missing' AS what, d.* FROM (${fresh} EXCEPT ${mine}) AS d`,
      ...values,
    );
    const counts = await database.run(
      `SELECT relation, count(*) AS grants FROM (${mine}) AS m GROUP BY relation ORDER BY relation`,
      ...values,
    );
    return {
      seq: place.seq,
      differences: differences.length,
      lines: [
        ...counts.map(({ relation, grants }) => `${relation}  ${grants} grants as of entry ${place.seq}`),
        ...differences
          .slice(0, SHOWN_MAX)
          .map(({ what, subject, relation, object }) => `${what}: ${subject} ${relation} ${object}`),
      ],
    };
  } finally {
    await mirror.drop('grants_verified');
  }
}
