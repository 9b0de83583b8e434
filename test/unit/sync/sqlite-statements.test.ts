// Statements over a mirror in SQLite from its place: they answer, or fail with the name of what it lacks.

import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { sqliteStatements } from '../../../packages/sync/src/sqlite-statements.ts';
import { joinsOf } from '../../contract/mirror/scripted-history.ts';

const VALUES = {
  ':subjects': '["user:ada"]',
  ':perhaps': '[]',
  ':at_seq': 7,
  ':at_time': 1000,
  ':through': 6,
  ':revision': 'r1',
  ':object': 'document:1',
};

test('statements for SQLite fail where the mirror lacks something, or they are not told what it has to have', () => {
  using database = new DatabaseSync(':memory:');
  database.exec(`CREATE TABLE grantd_place (seq INTEGER, revision TEXT, horizon INTEGER);
    CREATE TABLE grantd_grants (object, relation, subject, since, until, expires_at, conditional, kind);
    INSERT INTO grantd_place VALUES (7, 'r1', 5)`);
  const [joined] = joinsOf('r1', ['document:viewer']).joins;
  assert.ok(joined !== undefined);
  const statements = Object.values(sqliteStatements(joined.join)).map((sql) => database.prepare(sql));
  for (const each of statements) each.setAllowUnknownNamedParameters(true);
  for (const [refusal, change] of [
    ['', {}],
    ['other-rules', { ':revision': 'r2' }],
    ['other-rules', { ':revision': null }],
    ['stale', { ':at_seq': 4 }],
    ['stale', { ':at_seq': null }],
    ['stale', { ':at_time': null }],
    ['behind', { ':through': 8 }],
    ['behind', { ':through': null }],
  ] as const) {
    for (const each of statements) {
      const answer = (): unknown => each.all({ ...VALUES, ...change });
      if (refusal === '') answer();
      else assert.throws(answer, new RegExp(`'${refusal}: `));
    }
  }
  database.exec('UPDATE grantd_place SET seq = NULL');
  for (const each of statements) assert.throws(() => each.all(VALUES), /'not-ready: /);
});
