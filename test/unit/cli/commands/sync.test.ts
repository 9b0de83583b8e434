// `grantd sync` on a file of SQLite and a scripted service; what a mirror promises is in `test/contract/mirror`.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { joinsOf, ScriptedHistory } from '../../../contract/mirror/scripted-history.ts';
import { useDirectory } from '../../../kit/directory.ts';
import { sync } from '../scripted-sync.ts';

const PAIRS = ['document:parent', 'document:viewer'];
const directory = useDirectory();

const JOIN = ['--join', 'document.can_read'];

describe('grantd sync', () => {
  test('keeps a mirror until it is interrupted, and goes on where it was', async () => {
    const file = ['--file', join(directory, 'kept.db')];
    const history = new ScriptedHistory(1, 20, joinsOf('r1', PAIRS));
    const first = await sync(history, ['sqlite', ...JOIN, ...file]);
    assert.deepEqual([first.code, first.stdout], [0, '']);
    assert.match(first.stderr, /^Reading all grants of document:parent, document:viewer\.$/m);
    assert.match(first.stderr, /^The mirror is complete, as of entry \d+\.$/m);
    history.left = 5;
    assert.doesNotMatch((await sync(history, ['sqlite', ...JOIN, ...file])).stderr, /Reading all/);
    assert.equal(history.snapshots, 1);

    const verified = await sync(history, ['verify', ...JOIN, ...file]);
    assert.equal(verified.code, 0, verified.stderr);
    assert.match(verified.stdout, /^viewer {2}\d+ grants as of entry \d+$/m);
  });

  test('says which grants a mirror has wrong', async () => {
    const file = join(directory, 'wrong.db');
    const history = new ScriptedHistory(2, 20, joinsOf('r1', PAIRS));
    await sync(history, ['sqlite', ...JOIN, '--file', file]);
    const { DatabaseSync } = await import('node:sqlite');
    using database = new DatabaseSync(file);
    database.exec(`INSERT INTO grantd_grants VALUES ('document:9', 'viewer', 'user:eve', 0, 9e15, NULL, false, 0)`);
    const { code, stdout, stderr } = await sync(history, ['verify', ...JOIN, '--file', file]);
    assert.equal(code, 1);
    assert.match(stdout, /^too many: user:eve viewer document:9$/m);
    assert.match(stderr, /^grantd: 1 grants differ as of entry \d+\.$/m);
  });

  test('prints the functions and a policy for Postgres, and statements for SQLite', async () => {
    const history = new ScriptedHistory(3, 0, joinsOf('r1', PAIRS));
    const postgres = await sync(history, ['sql', 'document.can_read', '--rls']);
    assert.match(postgres.stdout, /^CREATE OR REPLACE FUNCTION "grantd"\."document\.can_read:objects"\(/m);
    assert.match(postgres.stdout, /^CREATE POLICY "document\.can_read" ON "documents" FOR SELECT USING \($/m);
    const sqlite = await sync(history, ['sql', 'document.can_read', '--dialect', 'sqlite']);
    assert.match(sqlite.stdout, /FROM grantd_grants AS g/);
  });

  test('takes no name from a service that would end a text of SQL', async () => {
    const history = new ScriptedHistory(4, 0, joinsOf('r1', PAIRS));
    const change = (body: string): string => body.replace('"viewer"', JSON.stringify("viewer') OR ('' = '"));
    const { code, stdout, stderr } = await sync(history, ['sql', 'document.can_read'], { change });
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^grantd: The service responded with a join that has a name which is none\.$/m);
  });

  test('never says the password of a database', async () => {
    const history = new ScriptedHistory(5, 0, joinsOf('r1', PAIRS));
    const url = 'postgres://app:s3cret@127.0.0.1:1/app';
    const { code, stderr } = await sync(history, ['postgres', ...JOIN, '--url', url]);
    assert.equal(code, 1);
    assert.match(stderr, /^grantd: 127\.0\.0\.1:1\/app: connect ECONNREFUSED/m);
    assert.doesNotMatch(stderr, /s3cret/);
    const wrong = await sync(history, ['postgres', ...JOIN, '--url', 'http://app:s3cret@db']);
    assert.equal(wrong.code, 2);
    assert.doesNotMatch(wrong.stderr, /s3cret/);
  });

  for (const [what, args] of [
    ['a join without a name', ['sqlite', '--join', 'document', '--file', 'x']],
    ['no join', ['sqlite', '--file', 'x']],
    ['an address that is not of Postgres', ['postgres', ...JOIN, '--url', 'mysql://x']],
    ['a mirror that is nowhere', ['verify', ...JOIN]],
    ['a schema with a quote', ['postgres', ...JOIN, '--url', 'postgres://x', '--schema', 'a"b']],
  ] as const) {
    test(`${what} is a wrong usage`, async () => {
      const history = new ScriptedHistory(6, 0, joinsOf('r1', PAIRS));
      assert.equal((await sync(history, args)).code, 2);
    });
  }
});
