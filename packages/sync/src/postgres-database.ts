// A mirror in Postgres, on one connection. It holds a lock as long as it lasts: of two processes that keep a mirror,
// one is at work, and one that has lost its lock cannot write either.

import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import type { JoinSet } from './mirror.ts';
import { postgresFunctions, quotedName } from './postgres-functions.ts';
import type { DatabaseTrouble, MirrorDatabase, SqlValue } from './sql-mirror.ts';

const CONNECT_MS_MAX = 10_000;
/** The longest statement makes an index over a whole mirror. */
const STATEMENT_MS_MAX = 600_000;
/** How soon a query that waits is noticed. */
const ASKED_INTERVAL_MS = 50;
const LOCK_NOT_AVAILABLE = '55P03';
const SQLSTATE = /^[0-9A-Z]{5}$/;
/** The connection, the server's end or lack of memory, a conflict, or a server that is no longer the first one. */
const PASSING = /^(08|57P|53|40|25006)/;

export class PostgresDatabase implements MirrorDatabase {
  readonly text = 'text COLLATE "C"';
  readonly waitSeconds = 20;
  readonly setup: readonly string[];
  readonly #client: pg.Client;
  readonly #schema: string;
  #asked: unknown;

  static async open(url: string, schema: string): Promise<PostgresDatabase> {
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_MS_MAX,
      query_timeout: STATEMENT_MS_MAX,
      keepAlive: true,
      application_name: 'grantd sync',
    });
    // The statement that was running, or the next one, fails; without a listener, the process would end.
    client.on('error', () => undefined);
    await client.connect();
    return new PostgresDatabase(client, quotedName(schema));
  }

  private constructor(client: pg.Client, schema: string) {
    this.#client = client;
    this.#schema = schema;
    this.setup = [
      `CREATE SCHEMA IF NOT EXISTS ${schema}`,
      `CREATE SEQUENCE IF NOT EXISTS ${schema}.asked`,
      // Before a table is dropped: queries of others must not wait behind it for long.
      "SET lock_timeout = '2s'",
    ];
  }

  /** Whether this process is the one at work. */
  async lock(): Promise<boolean> {
    const [row] = await this.run(`SELECT pg_try_advisory_lock(hashtext('grantd'), hashtext($1)) AS mine`, this.#schema);
    return row?.mine === true;
  }

  async run(
    sql: string,
    ...values: readonly (SqlValue | readonly string[])[]
  ): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const { rows } = await this.#client.query<Record<string, unknown>>(sql, [...values]);
    return rows;
  }

  close(): Promise<void> {
    return this.#client.end();
  }

  table(name: string): string {
    return `${this.#schema}.${name}`;
  }

  rows(columns: Readonly<Record<string, string>>): string {
    const typed = Object.entries(columns).map(([name, type]) => `${name} ${type === 'text' ? this.text : type}`);
    return `json_to_recordset($1::json) AS c(${typed.join(', ')})`;
  }

  troubleOf(error: unknown): DatabaseTrouble {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code === LOCK_NOT_AVAILABLE) return 'in-use';
    return !SQLSTATE.test(code) || PASSING.test(code) ? 'passing' : 'lasting';
  }

  define(joins: JoinSet): readonly string[] {
    return postgresFunctions(this.#schema, joins);
  }

  /** `onLooked`: called each time. */
  onAsked(listener: () => void, onLooked: () => void = () => undefined): () => Promise<void> {
    const ended = new AbortController();
    const look = async (): Promise<void> => {
      while (!ended.signal.aborted) {
        const [row] = await this.run(`SELECT last_value::text || is_called AS asked FROM ${this.#schema}.asked`);
        if (this.#asked !== undefined && row?.asked !== this.#asked) listener();
        this.#asked = row?.asked;
        onLooked();
        await setTimeout(ASKED_INTERVAL_MS, undefined, { signal: ended.signal }).catch(() => undefined);
      }
    };
    // A lost connection ends the wait, and then what waited.
    const looking = look();
    looking.catch(listener);
    return () => {
      ended.abort();
      return looking;
    };
  }
}
