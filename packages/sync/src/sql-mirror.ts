// A mirror in a database: the table of grants, and the place that it has reached. Every step is one transaction, so a
// process that ends at any statement leaves a state from which the next one goes on. A new mirror is made in a table
// beside the old one, and takes its place in one transaction.

import { randomBytes } from 'node:crypto';
import {
  type JoinSet,
  type MirrorBatch,
  type MirroredGrant,
  type MirrorPlace,
  type MirrorRow,
  OPEN,
  rowOf,
} from './mirror.ts';

export type SqlValue = string | number | null;

/** What a failure of a database means: a table that queries are using, or a connection that another one may replace. */
export type DatabaseTrouble = 'in-use' | 'passing' | 'lasting';

/** A database, on one connection. */
export interface MirrorDatabase {
  /** Of the columns with texts. */
  readonly text: string;
  /** Statements that make what its tables need. */
  readonly setup: readonly string[];
  /** Seconds for which a page of changes may wait. */
  readonly waitSeconds: number;
  table(name: string): string;
  /** The objects in the JSON text that is the first parameter, as a table `c` with these columns. */
  rows(columns: Readonly<Record<string, string>>): string;
  run(sql: string, ...values: readonly SqlValue[]): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Statements that make what queries need beside the tables. */
  define(joins: JoinSet): readonly string[];
  /** Whether this process is the one at work, from now to its end. */
  lock(): Promise<boolean>;
  troubleOf(error: unknown): DatabaseTrouble;
  close(): Promise<void>;
  /**
   * Calls the listener once a query waits for the mirror, until the returned function is called, which rejects if the
   * connection has been lost meanwhile.
   */
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
const NAMES = Object.keys(COLUMNS);
const KEY = 'object, relation, subject, since';
const { object, relation, subject, since } = COLUMNS;

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
    await this.#atOnce(async () => {
      await this.#change('grants', batch);
      await this.database.run(`DELETE FROM ${this.database.table('grants')} WHERE until <= $1`, place.horizon);
      await this.#move(place);
    });
  }

  /** `grants_next` is the mirror from now on. False: the old one is in use, and so it stays for now. */
  async swap(joins: JoinSet, state: Omit<MirrorState, 'revision'>): Promise<boolean> {
    try {
      await this.#swap(joins, state);
      return true;
    } catch (error) {
      if (this.database.troubleOf(error) === 'in-use') return false;
      throw error;
    }
  }

  async #swap(joins: JoinSet, place: Omit<MirrorState, 'revision'>): Promise<void> {
    const { database } = this;
    await this.#atOnce(async () => {
      await database.run(`ANALYZE ${database.table('grants_next')}`);
      await database.run(`DROP TABLE IF EXISTS ${database.table('grants')}`);
      await database.run(
        `ALTER TABLE ${database.table('grants_next')} RENAME TO ${database.table('grants').split('.').at(-1)}`,
      );
      await this.#move(place);
      await this.#define(joins, place.pairs);
    });
  }

  async #move({ seq, cursor, horizon }: MirrorPlace): Promise<void> {
    const set = `UPDATE ${this.database.table('place')} SET seq = $1, cursor = $2, horizon = $3`;
    await this.database.run(set, seq, cursor, horizon);
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
  FROM ${database.rows({ prefix: 'text', relation: 'text' })}
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
    await database.run(`CREATE TABLE ${name} (${columns.join(', ')}, PRIMARY KEY (${KEY}))`);
    // Indexes keep their names when a table is renamed.
    const index = (of: string): Promise<unknown> =>
      database.run(`CREATE INDEX grantd_${randomBytes(8).toString('hex')} ON ${name} ${of}`);
    await index('(subject, relation, object, since, until, expires_at, conditional, kind)');
    await index(`(until) WHERE until < ${OPEN}`);
  }

  /** What is there already of the same entry is replaced. */
  async #insert(table: MirrorTable, rows: readonly MirrorRow[]): Promise<void> {
    if (rows.length === 0) return;
    const { database } = this;
    await database.run(
      `INSERT INTO ${database.table(table)} (${NAMES}) SELECT ${NAMES} FROM ${database.rows(COLUMNS)} WHERE true
  ON CONFLICT (${KEY}) DO UPDATE SET ${NAMES.map((name) => `${name} = excluded.${name}`)}`,
      JSON.stringify(rows),
    );
  }

  /** Rows of the entries that come again end before every entry, as if they had not been. */
  async #change(table: MirrorTable, { ended, begun }: MirrorBatch): Promise<void> {
    if (ended.length === 0) return;
    const { database } = this;
    await database.run(
      `UPDATE ${database.table(table)} AS g SET until = CASE WHEN g.since < c.since THEN c.since ELSE 0 END
  FROM ${database.rows({ object, relation, subject, since })}
  WHERE g.object = c.object AND g.relation = c.relation AND g.subject = c.subject AND g.until > c.since`,
      JSON.stringify(ended),
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
