// A mirror in a database: the table of grants, and the place that it has reached. Every step is one transaction, so a
// process that ends at any statement leaves a state from which the next one goes on. A new mirror is made in a table
// beside the old one, and takes its place in one transaction.

import type { JoinSet, MirrorBatch, MirroredGrant, MirrorPlace, MirrorRow } from './mirror.ts';
import { rowOf } from './mirror.ts';

export type SqlValue = string | number | null;

/** A database, on one connection. */
export interface MirrorDatabase {
  /** Of the columns with texts. */
  readonly text: string;
  table(name: string): string;
  /** The name of a table after it was renamed. */
  name(name: string): string;
  /** Creates an index on a table. */
  index(table: string, columns: string, more?: string): string;
  /** The objects in the JSON text `parameter`, as a table with these columns. */
  rows(parameter: string, columns: Readonly<Record<string, string>>): string;
  /** Whether a row of a table is one of those that the query finds, which is given the column that names a row. */
  isIn(query: (row: string) => string): string;
  /** Said before a table is dropped: queries of others must not wait behind it for long. */
  readonly takesTable: string;
  isInUse(error: unknown): boolean;
  /** Whether it may work with another connection, later. */
  passes(error: unknown): boolean;
  /** Statements that make what its tables need. */
  readonly setup: readonly string[];
  /** Seconds for which a page of changes may wait. */
  readonly waitSeconds: number;
  run(sql: string, ...values: readonly SqlValue[]): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Statements that make what queries need beside the tables. */
  define(joins: JoinSet): readonly string[];
  /** Whether this process is the one at work, from now to its end. */
  lock(): Promise<boolean>;
  close(): Promise<void>;
  /** Calls the listener once a query waits for the mirror, until the returned function is called. */
  onAsked(listener: () => void): () => Promise<void>;
}

const COLUMNS = {
  object: 'text',
  relation: 'text',
  subject: 'text',
  since: 'bigint',
  until: 'bigint',
  expires_at: 'bigint',
  conditional: 'boolean',
  kind: 'smallint',
};
const NAMES = Object.keys(COLUMNS).join(', ');
const { object, relation, subject, since } = COLUMNS;
const TUPLE = { object, relation, subject, since };
const SAME = 'g.object = c.object AND g.relation = c.relation AND g.subject = c.subject';

export type MirrorTable = 'grants' | 'grants_next' | 'grants_verified';

/** What a mirror in a database has of itself, beside its place. */
export interface MirrorState extends MirrorPlace {
  readonly revision: string;
  readonly pairs: readonly string[];
}

export class SqlMirror {
  readonly database: MirrorDatabase;

  constructor(database: MirrorDatabase) {
    this.database = database;
  }

  /** Creates the place if it is not there. */
  async open(): Promise<void> {
    await this.#atOnce(async () => {
      for (const statement of this.database.setup) await this.database.run(statement);
      await this.database.run(`CREATE TABLE IF NOT EXISTS ${this.database.table('place')} (
  id smallint PRIMARY KEY CHECK (id = 1), seq bigint, cursor text, revision text, pairs text, horizon bigint NOT NULL)`);
      await this.database.run(
        `INSERT INTO ${this.database.table('place')} (id, horizon) VALUES (1, 0) ON CONFLICT DO NOTHING`,
      );
    });
  }

  /** Undefined: no mirror is complete. */
  async state(): Promise<MirrorState | undefined> {
    const [row] = await this.database.run(
      `SELECT seq, cursor, revision, pairs, horizon FROM ${this.database.table('place')} WHERE seq IS NOT NULL`,
    );
    return (
      row && {
        seq: Number(row.seq),
        cursor: String(row.cursor),
        revision: String(row.revision),
        pairs: String(row.pairs).split(','),
        horizon: Number(row.horizon),
      }
    );
  }

  async begin(table: MirrorTable): Promise<void> {
    await this.drop(table);
    await this.#atOnce(() => this.#create(table));
  }

  async drop(table: MirrorTable): Promise<void> {
    await this.database.run(`DROP TABLE IF EXISTS ${this.database.table(table)}`);
  }

  /** A page of a snapshot. */
  async load(table: MirrorTable, grants: readonly MirroredGrant[]): Promise<void> {
    await this.#insert(
      table,
      grants.map((grant) => rowOf(grant, 0)),
    );
  }

  /** For a table that is not in use: what it has ends with the process. */
  async change(table: MirrorTable, batch: MirrorBatch): Promise<void> {
    await this.#atOnce(() => this.#change(table, batch));
  }

  async apply(batch: MirrorBatch, place: MirrorPlace): Promise<void> {
    const { seq, cursor, horizon } = place;
    const { database } = this;
    await this.#atOnce(async () => {
      await this.#change('grants', batch);
      await database.run(`DELETE FROM ${database.table('grants')} WHERE until <= $1`, horizon);
      await database.run(
        `UPDATE ${database.table('place')} SET seq = $1, cursor = $2, horizon = $3`,
        ...[seq, cursor, horizon],
      );
    });
  }

  /** `grants_next` is the mirror from now on. False: the old one is in use, and so it stays for now. */
  async swap(joins: JoinSet, state: Omit<MirrorState, 'revision'>): Promise<boolean> {
    try {
      await this.#swap(joins, state);
      return true;
    } catch (error) {
      if (this.database.isInUse(error)) return false;
      throw error;
    }
  }

  async #swap(joins: JoinSet, { seq, cursor, horizon, pairs }: Omit<MirrorState, 'revision'>): Promise<void> {
    const { database } = this;
    await this.#atOnce(async () => {
      await database.run(`ANALYZE ${database.table('grants_next')}`);
      await database.run(database.takesTable);
      await database.run(`DROP TABLE IF EXISTS ${database.table('grants')}`);
      await database.run(`ALTER TABLE ${database.table('grants_next')} RENAME TO ${database.name('grants')}`);
      await database.run(
        `UPDATE ${database.table('place')} SET seq = $1, cursor = $2, horizon = $3`,
        ...[seq, cursor, horizon],
      );
      await this.#define(joins, pairs);
    });
  }

  /** For joins that need no more than the mirror has: it keeps no more. */
  async define(joins: JoinSet, pairs: readonly string[]): Promise<void> {
    await this.#atOnce(async () => {
      if ((await this.state())?.pairs.length !== pairs.length) await this.#keepOnly(pairs);
      await this.#define(joins, pairs);
    });
  }

  /** For joins that need more: no query is answered until they have it. */
  async announce(joins: JoinSet): Promise<void> {
    await this.#atOnce(() => this.#define(joins, undefined));
  }

  async #keepOnly(pairs: readonly string[]): Promise<void> {
    const { database } = this;
    const kept = pairs.map((pair) => {
      const colon = pair.indexOf(':') + 1;
      return { prefix: pair.slice(0, colon), relation: pair.slice(colon) };
    });
    await database.run(
      `DELETE FROM ${database.table('grants')} AS g WHERE NOT EXISTS (SELECT 1
  FROM ${database.rows('$1', { prefix: 'text', relation: 'text' })}
  WHERE c.relation = g.relation AND c.prefix = substr(g.object, 1, length(c.prefix)))`,
      JSON.stringify(kept),
    );
  }

  async #define(joins: JoinSet, pairs: readonly string[] | undefined): Promise<void> {
    const { database } = this;
    for (const statement of database.define(joins)) await database.run(statement);
    const set = `UPDATE ${database.table('place')} SET revision = $1`;
    if (pairs === undefined) await database.run(set, null);
    else await database.run(`${set}, pairs = $2`, joins.revision, pairs.join(','));
  }

  async #create(table: MirrorTable): Promise<void> {
    const { database } = this;
    const name = database.table(table);
    const columns = Object.entries(COLUMNS).map(
      ([column, type]) =>
        `${column} ${type === 'text' ? database.text : type}${column === 'expires_at' ? '' : ' NOT NULL'}`,
    );
    await database.run(`CREATE TABLE ${name} (${columns.join(', ')}, PRIMARY KEY (object, relation, subject, since))`);
    await database.run(
      database.index(name, 'subject, relation, object', 'since, until, expires_at, conditional, kind'),
    );
    await database.run(`${database.index(name, 'until')} WHERE until < ${Number.MAX_SAFE_INTEGER}`);
  }

  async #insert(table: MirrorTable, rows: readonly MirrorRow[]): Promise<void> {
    if (rows.length === 0) return;
    const { database } = this;
    await database.run(
      `INSERT INTO ${database.table(table)} (${NAMES}) SELECT ${NAMES} FROM ${database.rows('$1', COLUMNS)} WHERE true
  ON CONFLICT DO NOTHING`,
      JSON.stringify(rows),
    );
  }

  async #change(table: MirrorTable, { ended, begun }: MirrorBatch): Promise<void> {
    if (ended.length === 0) return;
    const { database } = this;
    const [name, texts, changed] = [database.table(table), JSON.stringify(ended), database.rows('$1', TUPLE)];
    await database.run(
      `DELETE FROM ${name} WHERE ${database.isIn(
        (row) => `SELECT g.${row} FROM ${changed} CROSS JOIN ${name} AS g WHERE ${SAME} AND g.since >= c.since`,
      )}`,
      texts,
    );
    await database.run(
      `UPDATE ${name} AS g SET until = c.since FROM ${changed} WHERE ${SAME} AND g.until > c.since`,
      texts,
    );
    await this.#insert(table, begun);
  }

  async #atOnce(run: () => Promise<void>): Promise<void> {
    await this.database.run('BEGIN');
    try {
      await run();
      await this.database.run('COMMIT');
    } catch (error) {
      // A connection that is lost has rolled back already.
      await this.database.run('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }
}
