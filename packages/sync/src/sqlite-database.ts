// A mirror in a file of SQLite.

import { DatabaseSync } from 'node:sqlite';
import type { DatabaseTrouble, MirrorDatabase, SqlValue } from './sql-mirror.ts';

const BUSY_MS_MAX = 10_000;

export class SqliteDatabase implements MirrorDatabase {
  readonly text = 'text';
  /** Nobody can say here that a query waits. */
  readonly waitSeconds = 1;
  readonly setup = [];
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

  rows(columns: Readonly<Record<string, string>>): string {
    const values = Object.keys(columns).map((name) => `value ->> '${name}' AS ${name}`);
    return `(SELECT ${values.join(', ')} FROM json_each($1)) AS c`;
  }

  troubleOf(): DatabaseTrouble {
    return 'lasting';
  }

  define(): readonly string[] {
    return [];
  }

  onAsked(): () => Promise<void> {
    return async () => undefined;
  }
}
