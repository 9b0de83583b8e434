// The runner of migrations: each missing step once, in order, whole or not at all.

import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { DatabaseRefusal, migrate } from '../../../../src/store/sqlite/migrate.ts';
import { MIGRATIONS, type Migration } from '../../../../src/store/sqlite/migrations.ts';

const openMemory = () => new DatabaseSync(':memory:');

const next = (sql: string): Migration[] => {
  const version = MIGRATIONS.length + 1;
  return [...MIGRATIONS, { version, name: 'a later step', sql }];
};

const versionsOf = (database: DatabaseSync) =>
  database
    .prepare('SELECT version, applied_at_ms FROM schema_versions ORDER BY version')
    .all()
    .map((row) => [row.version, row.applied_at_ms]);

describe('migrations', () => {
  it('make a new database, and do nothing to one that has them', () => {
    const database = openMemory();
    const all = MIGRATIONS.map((migration) => migration.version);
    assert.deepEqual(migrate(database, MIGRATIONS, 5), all);
    assert.deepEqual(migrate(database, MIGRATIONS, 6), []);
    assert.deepEqual(
      versionsOf(database),
      all.map((version) => [version, 5]),
    );
  });

  it('bring an older database up to date and keep its rows', () => {
    const database = openMemory();
    migrate(database, MIGRATIONS, 5);
    database.exec("INSERT INTO slots (slot, owner, epoch, first) VALUES (3, 'inc_1', 7, 1)");
    const later = next('ALTER TABLE slots ADD COLUMN note TEXT; UPDATE slots SET note = owner');
    assert.deepEqual(migrate(database, later, 6), [MIGRATIONS.length + 1]);
    assert.equal(database.prepare('SELECT note FROM slots WHERE slot = 3').get()?.note, 'inc_1');
    assert.deepEqual(migrate(database, later, 7), []);
  });

  it('undo a step that fails, and can be run again', () => {
    const database = openMemory();
    migrate(database, MIGRATIONS, 5);
    const broken = next('CREATE TABLE extra (a TEXT); INSERT INTO no_such_table VALUES (1)');
    assert.throws(() => migrate(database, broken, 6), /no_such_table/);
    assert.equal(versionsOf(database).length, MIGRATIONS.length);
    const mended = next('CREATE TABLE extra (a TEXT)');
    assert.deepEqual(migrate(database, mended, 7), [MIGRATIONS.length + 1]);
  });

  it('refuse a database of a newer version', () => {
    const database = openMemory();
    migrate(database, next('CREATE TABLE extra (a TEXT)'), 5);
    assert.throws(() => migrate(database, MIGRATIONS, 6), DatabaseRefusal);
    assert.equal(versionsOf(database).length, MIGRATIONS.length + 1);
  });

  it('refuse the database of another program', () => {
    const database = openMemory();
    database.exec('CREATE TABLE songs (title TEXT)');
    assert.throws(() => migrate(database, MIGRATIONS, 6), DatabaseRefusal);
  });

  it('refuse a list with a gap', () => {
    const [first] = MIGRATIONS;
    assert.ok(first !== undefined);
    assert.throws(() => migrate(openMemory(), [first, { ...first, version: 3 }], 6), /without gaps/);
  });

  it('say of a schema that was changed in its place who made it, never that it is newer', () => {
    const made = openMemory();
    migrate(made, MIGRATIONS, 5);
    const [first] = MIGRATIONS;
    assert.ok(first !== undefined);
    const changed = [{ ...first, sql: `${first.sql} CREATE TABLE extra (a TEXT);` }];
    assert.throws(
      () => migrate(made, changed, 6),
      /^DatabaseRefusal: it was made by grantd [\d.]+ with another schema; this grantd [\d.]+ cannot open it/,
    );
    const old = openMemory();
    old.exec('CREATE TABLE schema_versions (version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL)');
    old.exec("INSERT INTO schema_versions VALUES (1, 'first'), (12, 'twelfth')");
    assert.throws(
      () => migrate(old, MIGRATIONS, 6),
      /it was made by a commit before the release of 0\.2\.0 with another/,
    );
  });
});
