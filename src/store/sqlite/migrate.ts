// Brings a database to the schema of this version: applies each missing numbered step, in order, in a durable
// transaction that also records it. A database of a newer version is left untouched.

import type { DatabaseSync } from 'node:sqlite';
import { assert } from '../../core/assert.ts';
import { integerAt } from '../stored-rows.ts';
import { prepare } from './database.ts';
import type { Migration } from './migrations.ts';

/** Why a database cannot be used, in words for the operator. */
export class DatabaseRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DatabaseRefusal';
  }
}

function readVersion(database: DatabaseSync): number {
  const tables = prepare(
    database,
    "SELECT count(*) AS tables, sum(name = 'schema_versions') AS own FROM sqlite_schema",
  ).get();
  assert(tables !== undefined, 'an aggregate has a row');
  if (integerAt(tables, 'tables') === 0) return 0;
  if (integerAt(tables, 'own') === 0) throw new DatabaseRefusal('grantd.db was not made by grantd');
  const newest = prepare(database, 'SELECT coalesce(max(version), 0) AS version FROM schema_versions').get();
  return newest === undefined ? 0 : integerAt(newest, 'version');
}

function applyMigration(database: DatabaseSync, migration: Migration, wallMs: number): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    database.exec(`CREATE TABLE IF NOT EXISTS schema_versions (
      version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`);
    database.exec(migration.sql);
    prepare(database, 'INSERT INTO schema_versions (version, name, applied_at_ms) VALUES (?, ?, ?)').run(
      migration.version,
      migration.name,
      wallMs,
    );
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/**
 * Applies the missing steps and returns their versions. `migrations` are numbered from 1 without gaps. Throws
 * DatabaseRefusal for a database of a newer version or of another program.
 */
export function migrate(database: DatabaseSync, migrations: readonly Migration[], wallMs: number): number[] {
  for (const [index, migration] of migrations.entries()) {
    assert(migration.version === index + 1, 'migrations are numbered from 1 without gaps');
  }
  const version = readVersion(database);
  if (version > migrations.length) {
    throw new DatabaseRefusal(
      `it was made by a newer version of grantd (its schema is ${version}, this version knows up to ${migrations.length})`,
    );
  }
  const missing = migrations.slice(version);
  for (const migration of missing) applyMigration(database, migration, wallMs);
  return missing.map((migration) => migration.version);
}
