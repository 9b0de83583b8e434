// Brings a database to the schema of this version: applies each missing numbered step, in order, in a durable
// transaction that also records it, with the version of the program and a fingerprint of the step. A database whose
// steps are not those of this version is left untouched, and said to be what it is: of a newer version only if its
// first steps are the same.

import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { assert } from '../../core/assert.ts';
import { PROGRAM_VERSION, UNRECORDED_PROGRAM } from '../../core/program-version.ts';
import { integerAt, textAt } from '../stored-rows.ts';
import { prepare } from './database.ts';
import type { Migration } from './migrations.ts';

/** Why a database cannot be used, in words for the operator. */
export class DatabaseRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DatabaseRefusal';
  }
}

const OTHER_SCHEMA_ADVICE =
  'Nothing was changed. Start the version that made it, export each tenant and import the files into a new folder (docs/operating/upgrade.md), or remove the folder';

interface AppliedStep {
  readonly version: number;
  /** The version of the program that applied it; `undefined`: it did not say. */
  readonly program: string | undefined;
  readonly fingerprint: string | undefined;
}

/** Equal for two texts of a step only if they make the same tables. */
const fingerprintOf = ({ sql }: Migration): string => createHash('sha256').update(sql).digest('hex').slice(0, 16);

/** Whether anything has been created. Throws DatabaseRefusal for the database of another program. */
export function hasTables(database: DatabaseSync): boolean {
  const tables = prepare(
    database,
    "SELECT count(*) AS tables, sum(name = 'schema_versions') AS own FROM sqlite_schema",
  ).get();
  assert(tables !== undefined, 'an aggregate has a row');
  if (integerAt(tables, 'tables') === 0) return false;
  if (integerAt(tables, 'own') === 0) throw new DatabaseRefusal('grantd.db was not made by grantd');
  return true;
}

function readSteps(database: DatabaseSync): AppliedStep[] {
  const columns = prepare(database, "SELECT name FROM pragma_table_info('schema_versions')").all();
  const tells = columns.some(({ name }) => name === 'fingerprint');
  const chosen = tells ? 'version, program, fingerprint' : 'version';
  const rows = prepare(database, `SELECT ${chosen} FROM schema_versions ORDER BY version`).all();
  return rows.map((row) => ({
    version: integerAt(row, 'version'),
    program: tells ? textAt(row, 'program') : undefined,
    fingerprint: tells ? textAt(row, 'fingerprint') : undefined,
  }));
}

/** Returns the version of the schema. Throws DatabaseRefusal if this program does not know it. */
export function requireKnownSchema(database: DatabaseSync, migrations: readonly Migration[]): number {
  const steps = readSteps(database);
  const known = migrations.map(fingerprintOf);
  const strange = steps.find(({ version, fingerprint }) => {
    const own = known[version - 1];
    return own !== undefined && own !== fingerprint;
  });
  if (strange !== undefined) {
    const maker = strange.program === undefined ? UNRECORDED_PROGRAM : `grantd ${strange.program}`;
    throw new DatabaseRefusal(
      `it was made by ${maker} with another schema; this grantd ${PROGRAM_VERSION} cannot open it. ${OTHER_SCHEMA_ADVICE}`,
    );
  }
  const newest = steps.at(-1);
  if (newest !== undefined && newest.version > migrations.length) {
    throw new DatabaseRefusal(
      `it was made by a newer version, grantd ${newest.program} (its schema is ${newest.version}, this grantd ${PROGRAM_VERSION} knows up to ${migrations.length}). Nothing was changed. Start that version or a later one`,
    );
  }
  return newest?.version ?? 0;
}

function applyMigration(database: DatabaseSync, migration: Migration, wallMs: number): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    database.exec(`CREATE TABLE IF NOT EXISTS schema_versions (
      version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at_ms INTEGER NOT NULL,
      program TEXT NOT NULL, fingerprint TEXT NOT NULL
    ) STRICT, WITHOUT ROWID`);
    database.exec(migration.sql);
    prepare(
      database,
      'INSERT INTO schema_versions (version, name, applied_at_ms, program, fingerprint) VALUES (?, ?, ?, ?, ?)',
    ).run(migration.version, migration.name, wallMs, PROGRAM_VERSION, fingerprintOf(migration));
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/**
 * Applies the missing steps and returns their versions. `migrations` are numbered from 1 without gaps. Throws
 * DatabaseRefusal for a database of other steps or of another program.
 */
export function migrate(database: DatabaseSync, migrations: readonly Migration[], wallMs: number): number[] {
  for (const [index, migration] of migrations.entries()) {
    assert(migration.version === index + 1, 'migrations are numbered from 1 without gaps');
  }
  const version = hasTables(database) ? requireKnownSchema(database, migrations) : 0;
  const missing = migrations.slice(version);
  for (const migration of missing) applyMigration(database, migration, wallMs);
  return missing.map((migration) => migration.version);
}
