// `grantd changes`: what a tenant's applications are told, up to now, and followed until it is interrupted.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CliRun, useOperatorCli } from '../cli-run.ts';

const cli = await useOperatorCli();
const { grantd } = cli;

const importLines = (id: string, lines: string): Promise<CliRun> =>
  grantd(['import', '-', '--tenant', id], { stdin: lines });

const createTenant = () =>
  cli.createTenant('Acme', 'user:ann\tviewer\tdoc:1\nuser:bob\teditor\tdoc:2\t2099-01-01T00:00:00Z\n');

describe('the changes of a tenant', () => {
  test('are told oldest first, without its keys and its plan, with a cursor for what is to come', async () => {
    const id = await createTenant();
    const { code, stdout, stderr } = await grantd(['changes', '--tenant', id]);
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(stdout, /tenant\.created|key\.created/);
    const grants = stdout.split('\n').filter((line) => line.includes('grant.created'));
    assert.match(grants[0] ?? '', /^\S+Z {2}operator:alice {2}grant\.created {2}user:ann viewer doc:1$/);
    assert.match(grants[1] ?? '', / user:bob editor doc:2 expires 2099-01-01T00:00:00\.000Z$/);
    const cursor = /^Continue with --cursor (\S+)$/m.exec(stderr)?.[1] ?? '';
    assert.equal((await grantd(['changes', '--tenant', id, '--cursor', cursor])).stdout, '');
    await importLines(id, 'user:cy\tviewer\tdoc:3\n');
    assert.match((await grantd(['changes', '--tenant', id, '--cursor', cursor])).stdout, /^.* user:cy viewer doc:3\n$/);
  });

  test('say of a grant that changed what it had before', async () => {
    const id = await createTenant();
    const lines = 'user:ann\tviewer\tdoc:1\t2090-01-01T00:00:00Z\nuser:bob\teditor\tdoc:2\n';
    await grantd(['import', '-', '--replace', '--tenant', id], { stdin: lines });
    const changed = ['changes', '--tenant', id, '--action', 'grant.updated'];
    const { stdout } = await grantd(changed);
    assert.match(
      stdout,
      /^\S+ {2}\S+ {2}grant\.updated {2}user:ann viewer doc:1 expires 2090-01-01T00:00:00\.000Z \(before: never expired\)\n\S+ {2}\S+ {2}grant\.updated {2}user:bob editor doc:2 \(before: expires 2099-01-01T00:00:00\.000Z\)\n$/,
    );
    const json = (await grantd([...changed, '--json'])).stdout.trimEnd().split('\n');
    assert.deepEqual(
      json.map((line) => JSON.parse(line).former_terms),
      [{ expires_at: null }, { expires_at: '2099-01-01T00:00:00.000Z' }],
    );
  });

  test('are filtered, and printed as JSON lines', async () => {
    const id = await createTenant();
    const filter = ['--action', 'grant.created,grant.revoked', '--relation', 'editor', '--namespace', 'doc', '--json'];
    const { stdout } = await grantd(['changes', '--tenant', id, ...filter]);
    const lines = stdout.trimEnd().split('\n');
    assert.equal(lines.length, 1);
    const { seq: _seq, index: _index, at: _at, request_id: _request, ...change } = JSON.parse(lines[0] ?? '');
    const { grant_id: _id, created_at: _created, ...grant } = change.grant;
    assert.deepEqual(
      { ...change, grant },
      {
        actor: 'operator:alice',
        action: 'grant.created',
        grant: { subject: 'user:bob', relation: 'editor', object: 'doc:2', expires_at: '2099-01-01T00:00:00.000Z' },
      },
    );
  });

  for (const [what, args] of [
    ['an unknown action', ['--action', 'grant.lost']],
    ['an ill-formed relation', ['--relation', 'the boss']],
    ['a cursor and a time', ['--cursor', 'a', '--since', '1h']],
  ] as const) {
    test(`${what} is a wrong usage`, async () => {
      const { code, stdout } = await grantd(['changes', '--tenant', 'ten_00000000000000000000000000', ...args]);
      assert.deepEqual([code, stdout], [2, '']);
    });
  }

  test('are followed until it is interrupted', async () => {
    const id = await createTenant();
    const { ended, waitToShow, interrupt } = cli.start(['changes', '--tenant', id, '--follow']);
    try {
      await waitToShow('doc:2');
      await importLines(id, 'user:cy\tviewer\tdoc:3\n');
      await waitToShow('doc:3');
    } finally {
      interrupt();
    }
    const { code, stdout, stderr } = await ended;
    assert.equal(code, 130);
    assert.match(stderr, /Continue with --cursor \S+\n$/);
    assert.equal(stdout.split('user:ann viewer doc:1').length, 2, 'each change once');
  });
});
