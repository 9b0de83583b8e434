// A mirror in a file of SQLite.

import { randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import type { MirrorDatabase, SqlValue } from './sql-mirror.ts';

const BUSY_MS_MAX = 10_000;

export class SqliteDatabase implements MirrorDatabase {
  readonly text = 'text';
  /** Nobody can say here that a query waits. */
  readonly waitSeconds = 1;
  readonly setup = [];
  readonly takesTable = 'SELECT 1';
  readonly #database: DatabaseSync;

  readonly #file: string;
  #lock: DatabaseSync | undefined;

  constructor(file: string) {
    this.#file = file;
    this.#database = new DatabaseSync(file, { timeout: BUSY_MS_MAX });
    this.#database.exec('PRAGMA journal_mode = WAL');
  }

  async run(sql: string, ...values: readonly SqlValue[]): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return this.#database.prepare(sql.replace(/\$(\d)/g, '?$1')).all(...values);
  }

  async lock(): Promise<boolean> {
    const lock = new DatabaseSync(`${this.#file}-sync`, { timeout: 0 });
    try {
      lock.exec('BEGIN EXCLUSIVE');
    } catch {
      lock.close();
      return false;
    }
    this.#lock = lock;
    return true;
  }

  async close(): Promise<void> {
    this.#lock?.close();
    this.#database.close();
  }

  table(name: string): string {
    return `grantd_${name}`;
  }

  name(name: string): string {
    return this.table(name);
  }

  /** Indexes have names of their own, which stay when a table is renamed. */
  index(table: string, columns: string, more?: string): string {
    return `CREATE INDEX grantd_${randomBytes(8).toString('hex')} ON ${table} (${columns}${more === undefined ? '' : `, ${more}`})`;
  }

  rows(parameter: string, columns: Readonly<Record<string, string>>): string {
    const values = Object.keys(columns).map((name) => `value ->> '${name}' AS ${name}`);
    return `(SELECT ${values.join(', ')} FROM json_each(${parameter})) AS c`;
  }

  isIn(query: (row: string) => string): string {
    return `rowid IN (${query('rowid')})`;
  }

  isInUse(): boolean {
    return false;
  }

  passes(): boolean {
    return false;
  }

  define(): readonly string[] {
    return [];
  }

  onAsked(): () => Promise<void> {
    return async () => undefined;
  }
}
