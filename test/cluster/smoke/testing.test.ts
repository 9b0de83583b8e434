// `grantd testing` as the tests of an application use it: the line that it prints, a tenant for each test key, and the
// ways it ends.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { afterEach, describe, it } from 'node:test';
import { BARE_ENVIRONMENT } from '../../kit/bare-environment.ts';
import { DevProcess } from '../../kit/dev-process.ts';
import { useDirectory } from '../../kit/directory.ts';
import { type CallOptions, call } from '../../kit/http-client.ts';
import { waitFor } from '../../kit/wait-for.ts';

const START_MS_MAX = 120_000;
const TUPLE = { subject: 'user:ada', relation: 'viewer', object: 'document:plan' };
const directory = useDirectory();

const started: DevProcess[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((each) => each.stop()));
});

function start(...args: readonly string[]): DevProcess {
  // Settings of the application that is tested are not its own.
  const foreign = { GRANTD_URL: 'https://grantd.invalid', GRANTD_OTHER: '1' };
  const environment = { ...BARE_ENVIRONMENT, TMPDIR: directory, ...foreign };
  const grantd = new DevProcess(['testing', ...args], environment, undefined, 'pipe');
  started.push(grantd);
  return grantd;
}

async function urlOf(grantd: DevProcess): Promise<string> {
  await waitFor('the line', () => grantd.stdout.includes('\n') || grantd.hasEnded, START_MS_MAX);
  return JSON.parse(grantd.stdout).url;
}

describe('grantd testing', () => {
  it('makes an empty tenant with all scopes of each test key, once, behind which everything is real', async () => {
    const grantd = start();
    const url = await urlOf(grantd);
    const as = (key: string) => (method: string, path: string, body?: unknown) =>
      call(url, { method, path, key, body } as CallOptions);
    const [ada, bob] = [as('test_ada'), as('test_bob-2')];

    const first = await Promise.all(Array.from({ length: 8 }, () => ada('POST', '/v1/grants', TUPLE)));
    assert.equal(new Set(first.map(({ json }) => Object(json).grant_id)).size, 1);
    assert.equal(Object((await ada('POST', '/v1/check', TUPLE)).json).authorized, true);
    assert.equal(Object((await bob('POST', '/v1/check', TUPLE)).json).authorized, false);

    const rules = [
      { namespace: 'document', name: 'can_read', any_of: [{ all_of: ['viewer'], but_not: ['guest'] }] },
      { namespace: 'document', name: 'can_see', any_of: ['can_read'] },
    ];
    assert.equal((await ada('PUT', '/v1/rules', { rules })).status, 200);
    const see = { ...TUPLE, relation: 'can_see' };
    assert.equal(Object((await ada('POST', '/v1/check', see)).json).authorized, true);
    await ada('POST', '/v1/grants', { ...TUPLE, relation: 'guest' });
    assert.equal(Object((await ada('POST', '/v1/check', see)).json).authorized, false);
    assert.equal((await ada('GET', '/v1/changes')).status, 200);

    const created = await ada('POST', '/v1/keys', { name: 'reader', scopes: ['check:read'] });
    const reader = as(Object(created.json).key);
    assert.equal(Object((await reader('POST', '/v1/check', TUPLE)).json).authorized, true);
    assert.equal((await reader('POST', '/v1/grants', TUPLE)).status, 403);

    for (const key of ['test_', 'test_a.b', `test_${'a'.repeat(65)}`, 'tost_a']) {
      assert.equal((await as(key)('POST', '/v1/check', TUPLE)).status, 401, key);
    }
    assert.equal((await grantd.stop()).stderr, '');
  });

  it('ends with 0 after a signal, and after its input if that is asked for, and leaves nothing behind', async () => {
    const kept = start();
    await urlOf(kept);
    kept.child.stdin?.end();
    const bound = start('--until-stdin-closes');
    await urlOf(bound);
    bound.child.stdin?.end();
    const { code, signal } = await bound.ended;
    assert.deepEqual({ code, signal }, { code: 0, signal: null });
    assert.ok(!kept.hasEnded);
    assert.equal((await kept.stop()).code, 0);
    assert.deepEqual(readdirSync(directory), []);
  });

  it('says why it cannot listen', async () => {
    const wrong = await start('--address', '8080').ended;
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /must be host:port/);
    const taken = start();
    const { host } = new URL(await urlOf(taken));
    const refused = await start('--address', host).ended;
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /is in use by .*Set --address to another address\.\n$/);
  });
});
