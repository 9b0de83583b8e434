// The commands that look at what a tenant has and change it one by one: grants, objects, subjects, namespaces, usage.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CliRun, useOperatorCli } from './cli-run.ts';

const { service, grantd, createTenant } = await useOperatorCli();
const tenant = await createTenant();

const ofTenant = (...args: readonly string[]): Promise<CliRun> => grantd([...args, '--tenant', tenant]);

describe('grants', () => {
  test('are added, listed, found by object and revoked', async () => {
    const added = await ofTenant('grants', 'add', 'user:ann', 'viewer', 'doc:a b'.replace(' ', '/'));
    assert.equal(added.code, 0, added.stderr);
    assert.match(added.stdout, /grant_id +grt_\w{26}\nsubject +user:ann\nrelation +viewer\nobject +doc:a\/b\n/);
    const again = await ofTenant('grants', 'add', 'user:ann', 'viewer', 'doc:a/b', '--json');
    assert.deepEqual([again.code, JSON.parse(again.stdout).object], [0, 'doc:a/b'], 'one that is there stays');
    await ofTenant('grants', 'add', 'user:ann', 'editor', 'img:1');
    const ending = await ofTenant('grants', 'add', 'user:eve', 'viewer', 'doc:z', '--expires', '90d', '--json');
    const days = (Date.parse(JSON.parse(ending.stdout).expires_at) - Date.now()) / 86_400_000;
    assert.ok(days > 89 && days < 91, ending.stdout);
    const kept = await ofTenant('grants', 'add', 'user:eve', 'viewer', 'doc:z', '--expires', 'never', '--json');
    assert.equal(JSON.parse(kept.stdout).expires_at, null);
    await ofTenant('grants', 'revoke', 'user:eve', 'viewer', 'doc:z');
    const listed = await ofTenant('grants', 'list', 'user:ann');
    assert.match(
      listed.stdout,
      /RELATION +OBJECT +GRANT +CREATED +EXPIRES +CONDITION\neditor +img:1 +grt_.* - +-\nviewer +doc:a\/b +grt_/,
    );
    const rules = {
      rules: [],
      conditions: [{ name: 'capped', parameters: { limit: 'int' }, expression: 'limit > 5' }],
    };
    const tenant = await createTenant();
    await grantd(['rules', 'set', '-', '--tenant', tenant, '--yes'], { stdin: JSON.stringify(rules) });
    const terms = ['--condition', 'capped', '--context', '{"limit":9}'];
    await grantd(['grants', 'add', 'user:ann', 'viewer', 'doc:c', ...terms, '--tenant', tenant]);
    const conditional = await grantd(['grants', 'list', 'user:ann', '--tenant', tenant]);
    assert.match(conditional.stdout, /viewer +doc:c +grt_.* - +capped {"limit":9}\n/);
    assert.equal((await ofTenant('objects', 'user:ann', 'viewer')).stdout, 'OBJECT\ndoc:a/b\n');
    const json = await ofTenant('objects', 'user:ann', 'viewer', '--namespace', 'img', '--json');
    assert.deepEqual(JSON.parse(json.stdout), []);
    // Some that had a grant are listed until the log is trimmed.
    assert.match((await ofTenant('subjects')).stdout, /^SUBJECT\nuser:ann\n/);
    const revoked = await ofTenant('grants', 'revoke', 'user:ann', 'viewer', 'doc:a/b');
    assert.equal(revoked.stdout, 'Revoked: user:ann is no longer viewer of doc:a/b.\n');
    const missing = await ofTenant('grants', 'revoke', 'user:ann', 'viewer', 'doc:a/b');
    assert.deepEqual([missing.code, missing.stdout], [1, '']);
    assert.match(missing.stderr, /grant-not-found.*grantd grants list/s);
  });

  test('a listing goes on where it ended', async () => {
    for (const name of ['a', 'b', 'c']) await ofTenant('grants', 'add', 'user:bob', 'viewer', `doc:${name}`);
    const first = await ofTenant('objects', 'user:bob', 'viewer', '--limit', '2');
    assert.equal(first.stdout, 'OBJECT\ndoc:a\ndoc:b\n');
    const cursor = /--cursor (\S+)/.exec(first.stderr)?.[1] ?? '';
    assert.equal((await ofTenant('objects', 'user:bob', 'viewer', '--cursor', cursor)).stdout, 'OBJECT\ndoc:c\n');
    const wrong = await ofTenant('objects', 'user:bob', 'viewer', '--cursor', 'x');
    assert.match(wrong.stderr, /invalid-cursor.*Start again without --cursor/s);
  });

  test('a warning of the service goes to standard error, once for each, and changes nothing else', async () => {
    const checked = await ofTenant('check', 'user:ann', 'viewer', 'dco:a');
    assert.deepEqual([checked.code, checked.stdout], [3, 'authorized false\n']);
    assert.equal(checked.stderr, 'Warning: The tenant has no grant, rule or namespace "dco".\n');
    const lines = Array.from({ length: 150 }, (_, index) => `user:ann\tviewer\tdco:${index}\n`).join('');
    const file = await grantd(['check', '-f', '-', '--format', 'tsv', '--tenant', tenant, '--json'], { stdin: lines });
    assert.equal(file.stderr.match(/Warning: /g)?.length, 1, file.stderr);
    const listed = await ofTenant('subjects', 'viewer', 'dco:a');
    assert.match(listed.stderr, /Warning: The tenant has no grant, rule or namespace "dco"\./);
  });
});

test('namespaces are made and listed', async () => {
  assert.match((await ofTenant('namespaces', 'create', 'team')).stdout, /name +team\n/);
  assert.equal((await ofTenant('namespaces', 'create', 'team')).code, 0, 'one that is there stays');
  assert.match((await ofTenant('namespaces', 'list')).stdout, /NAMESPACE +CREATED\n(?:.*\n)*team +\d{4}-/);
  assert.match((await ofTenant('namespaces', 'create', '1st')).stderr, /invalid-request/);
});

test('a search finds tenants by a part of their name', async () => {
  const asked: string[] = [];
  const spy: typeof fetch = async (input) => {
    asked.push(String(input));
    return new Response('{"tenants":[],"next_cursor":null}');
  };
  assert.equal((await grantd(['tenants', 'list', '--name', 'a & b'], { fetch: spy })).code, 0);
  assert.match(asked.join(), /tenants\?name=a\+%26\+b&limit=1000$/);
});

describe('usage and loads', () => {
  const answer =
    (body: object): typeof fetch =>
    async () =>
      new Response(JSON.stringify(body));

  test('usage is a row per minute against the limit of the plan', async () => {
    const usage = {
      limit: { requests: 600, window_seconds: 60 },
      bucket_seconds: 60,
      buckets: [
        { at: '2026-11-21T10:00:00.000Z', requests: 150, refused: 0, checks: 140 },
        { at: '2026-11-21T10:01:00.000Z', requests: 1000, refused: 400, checks: 600 },
      ],
    };
    const { code, stdout } = await grantd(['usage', '--tenant', tenant], { fetch: answer(usage) });
    assert.equal(code, 0);
    assert.match(stdout, /MINUTE +REQUESTS +REFUSED +CHECKS +OF THE LIMIT\n/);
    assert.match(stdout, /10:00:00\.000Z +150 +0 +140 +#{5} {16}25 %\n/);
    assert.match(stdout, /10:01:00\.000Z +1000 +400 +600 +#{20} 100 %\n/);
    assert.match(stdout, /\n1,150 requests, 400 refused, 740 checks; the plan allows 600 per minute\n$/);
    const json = await grantd(['usage', '--tenant', tenant, '--json'], { fetch: answer(usage) });
    assert.deepEqual(JSON.parse(json.stdout), usage);
  });

  test('further back, it is a row per hour', async () => {
    const asked: string[] = [];
    const usage = {
      limit: { requests: 600, window_seconds: 60 },
      bucket_seconds: 3600,
      buckets: [{ at: '2026-11-21T10:00:00.000Z', requests: 9000, refused: 0, checks: 9000 }],
    };
    const options = {
      fetch: async (url: string | URL | Request) => {
        asked.push(String(url));
        return new Response(JSON.stringify(usage));
      },
    };
    const { stdout } = await grantd(['usage', '--tenant', tenant, '--since', '2026-11-20'], options);
    assert.match(asked[0] ?? '', /\/usage\?since=2026-11-20T00%3A00%3A00\.000Z$/);
    assert.match(stdout, /^HOUR +REQUESTS/);
    assert.match(stdout, /10:00:00\.000Z +9000 +0 +9000 +#{5} {16}25 %\n/);
    assert.equal((await grantd(['usage', '--tenant', tenant, '--since', 'soon'], options)).code, 2);
  });

  test('a tenant without a limit or without a request has its own words', async () => {
    const buckets = [{ at: '2026-11-21T10:00:00.000Z', requests: 7, refused: 0, checks: 7 }];
    const free = await grantd(['usage', '--tenant', tenant], {
      fetch: answer({ limit: null, bucket_seconds: 60, buckets }),
    });
    assert.match(free.stdout, /; no limit\n$/);
    const quiet = await grantd(['usage', '--tenant', tenant], {
      fetch: answer({ limit: null, bucket_seconds: 60, buckets: [] }),
    });
    assert.match(quiet.stdout, /^No requests in the last hour/);
  });

  test('loads are a row per shard', async () => {
    const loads = [
      {
        shard: 'shard-0',
        checks_per_second: 1234.56,
        failures_per_second: 0,
        p99_ms: 3,
        busiest_tenant: 'ten_a',
        busiest_share: 0.42,
      },
      {
        shard: 'shard-1',
        checks_per_second: 0,
        failures_per_second: 0,
        p99_ms: null,
        busiest_tenant: null,
        busiest_share: 0,
      },
    ];
    const { stdout } = await grantd(['loads'], { fetch: answer({ shards: loads }) });
    const rows = stdout.split('\n').map((line) => line.split(/ {2,}/));
    assert.deepEqual(rows.slice(0, 3), [
      ['SHARD', 'CHECKS/S', 'FAILURES/S', 'P99', 'BUSIEST TENANT', 'ITS SHARE'],
      ['shard-0', '1,234.6', '0', '3 ms', 'ten_a', '42 %'],
      ['shard-1', '0', '0', '-', '-', '-'],
    ]);
    assert.match(stdout, /\n2 shards: 1,235 checks\/s\n$/);
  });
});

test('a deletion is watched until nothing is left', async () => {
  const id = await createTenant('Short-lived');
  // Nothing is left only once it has been looked at.
  let looks = 0;
  const finishing: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (init?.method === 'GET') {
      looks += 1;
      await service.operator.finishDeletions();
    }
    return response;
  };
  const waiting = grantd(['tenants', 'delete', id, '--yes', '--wait', '--json'], { fetch: finishing });
  const { code, stdout, stderr } = await waiting;
  assert.deepEqual([code, JSON.parse(stdout).state], [0, 'deleted']);
  assert.match(stderr, new RegExp(`^deleting ${id}: \\d+ s`));
  assert.equal(looks, 2, 'one that finds it in flight, one that finds it over');
});

test('whoever stops watching a deletion is told that it goes on', async () => {
  const id = await createTenant('Slow');
  const { code, stdout, stderr } = await grantd(['tenants', 'delete', id, '--yes', '--wait'], {
    onInterrupt: (listener) => {
      setImmediate(listener);
      return () => {};
    },
  });
  assert.deepEqual([code, stdout], [130, '']);
  assert.match(stderr, /continues in the background/);
  assert.match((await grantd(['tenants', 'show', id])).stdout, /deleting/);
});
