// `grantd sync` on a file of SQLite and a scripted service; what a mirror promises is in `test/contract/mirror`.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { MirroredGrant } from '../../../../packages/sync/src/mirror.ts';
import { formatTimestamp } from '../../../../src/core/text/timestamps.ts';
import { joinsOf, ScriptedHistory } from '../../../contract/mirror/scripted-history.ts';
import { useDirectory } from '../../../kit/directory.ts';
import { type CliRun, runCli } from '../cli-run.ts';

const PAIRS = ['document:parent', 'document:viewer'];
const directory = useDirectory();
const key = { url: 'http://service.test', secret: 'gk1_secret' };

const recordOf = ({ expires_at, conditional, ...tuple }: MirroredGrant) => ({
  ...tuple,
  expires_at: expires_at === null ? null : formatTimestamp(expires_at),
  ...(conditional && { condition: { name: 'allowed' } }),
});

/** Serves a history. `change`: of the body of each response. */
function serviceOf(history: ScriptedHistory, change: (body: string) => string = (body) => body): typeof fetch {
  const bodyOf = async (url: URL): Promise<{ readonly json: unknown; readonly feed?: string } | undefined> => {
    const [pairs, cursor] = [(url.searchParams.get('on') ?? '').split(','), url.searchParams.get('cursor')];
    if (url.pathname === '/v1/join') {
      const { revision, joins } = await history.joins();
      return { json: { revision, ...joins[0]?.join } };
    }
    if (url.pathname === '/v1/grants') {
      const { grants, seq, feed, next } = await history.snapshot(pairs, cursor ?? undefined);
      return { json: { grants: grants.map(recordOf), next_cursor: next ?? null, seq }, feed };
    }
    const page = await history.changes(pairs, cursor ?? '');
    if (page === undefined) return undefined;
    const changes = page.changes.map(({ seq, grant, isThere }) => {
      return { seq, index: 0, action: isThere ? 'grant.created' : 'grant.revoked', grant: recordOf(grant) };
    });
    return { json: { changes, next_cursor: page.cursor, seq: page.seq } };
  };
  return async (input, init) => {
    const found = await bodyOf(new URL(String(input)));
    if (found === undefined) {
      await new Promise((resolve) => init?.signal?.addEventListener('abort', resolve) ?? resolve(undefined));
      throw new Error('interrupted');
    }
    const headers = found.feed === undefined ? {} : { 'X-Service-Cursor': found.feed };
    return new Response(change(JSON.stringify(found.json)), { headers });
  };
}

/** Until the history has ended. */
function sync(history: ScriptedHistory, args: readonly string[], change?: (body: string) => string): Promise<CliRun> {
  const interruption = Promise.withResolvers<void>();
  history.onEnd = () => setImmediate(interruption.resolve);
  return runCli(['sync', ...args], {
    key,
    fetch: serviceOf(history, change),
    onInterrupt: (listener) => {
      void interruption.promise.then(listener);
      return () => undefined;
    },
  });
}

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

    const verified = await sync(history, ['verify', 'sqlite', ...JOIN, ...file]);
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
    const { code, stdout, stderr } = await sync(history, ['verify', 'sqlite', ...JOIN, '--file', file]);
    assert.equal(code, 1);
    assert.match(stdout, /^too many: user:eve viewer document:9$/m);
    assert.match(stderr, /^grantd: 1 grants differ as of entry \d+\.$/m);
  });

  test('prints the functions and a policy for Postgres, and statements for SQLite', async () => {
    const history = new ScriptedHistory(3, 0, joinsOf('r1', PAIRS));
    const postgres = await sync(history, ['sql', 'document.can_read', '--rls']);
    assert.match(postgres.stdout, /^CREATE OR REPLACE FUNCTION "grantd"\."document_can_read_objects"\(/m);
    assert.match(postgres.stdout, /^CREATE POLICY "document_can_read" ON "documents" FOR SELECT USING \($/m);
    const sqlite = await sync(history, ['sql', 'document.can_read', '--dialect', 'sqlite']);
    assert.match(sqlite.stdout, /FROM grantd_grants AS g/);
  });

  test('takes no name from a service that would end a text of SQL', async () => {
    const history = new ScriptedHistory(4, 0, joinsOf('r1', PAIRS));
    const change = (body: string): string => body.replace('"viewer"', JSON.stringify("viewer') OR ('' = '"));
    const { code, stdout, stderr } = await sync(history, ['sql', 'document.can_read'], change);
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
    ['a schema with a quote', ['postgres', ...JOIN, '--url', 'postgres://x', '--schema', 'a"b']],
  ] as const) {
    test(`${what} is a wrong usage`, async () => {
      assert.equal((await runCli(['sync', ...args], { key })).code, 2);
    });
  }
});
