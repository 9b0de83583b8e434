// `grantd dev --threads`: what one thread has acknowledged, every other one knows; and the process is one: its metrics,
// its limits, its log, its end.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DevProcess, readDevFacts, testEnvironment, useDev } from '../../kit/dev-process.ts';
import { useDirectory } from '../../kit/directory.ts';
import { type Answer, type CallOptions, call } from '../../kit/http-client.ts';
import { linesOf } from '../../kit/shell-blocks.ts';

const WRITES = 100;
const READERS = 4;
const REVOKED_KEYS = 5;
/** Connections that ask the same: with so many, a thread is missed by one in a hundred. */
const ASKED_AT_ONCE = 8;
/** Less than what the test asks, and more than ten a second: then requests are counted in blocks. */
const LIMITED = { requests: 1200, window_seconds: 60 };
const ASKED = 1300;

describe('two threads', () => {
  const environment = { GRANTD_LOG_LEVEL: 'debug', GRANTD_PLANS: JSON.stringify({ limited: LIMITED }) };
  const grantd = useDev('data', { args: ['--threads', '2'], environment });
  const { data: directory } = grantd;
  /** A connection of its own, so the kernel chooses a thread. */
  const api = (options: CallOptions): Promise<Answer> => {
    const { base_url: url, key } = readDevFacts(directory);
    return call(url, { key, ...options });
  };
  const post = (path: string, body: object): Promise<Answer> => api({ method: 'POST', path, body });
  const check = async (tuple: object): Promise<boolean> => {
    const { status, json, text } = await post('/v1/check', tuple);
    assert.equal(status, 200, text);
    return Object(json).authorized;
  };
  const metric = async (pattern: RegExp): Promise<number> => {
    const text = await (await fetch(`${readDevFacts(directory).ops_url}/metrics`)).text();
    return Number(pattern.exec(text)?.[1]);
  };

  it('are named in the banner', () => {
    assert.match(grantd.process.stdout, /^ {2}Threads {4}2$/m);
  });

  it('both answer, and each knows at once what was acknowledged, whoever did it', async () => {
    for (let index = 0; index < WRITES; index += 1) {
      const tuple = { subject: 'user:ada', relation: 'viewer', object: `document:${index}` };
      assert.equal((await post('/v1/grants', tuple)).status, 201);
      const granted = await Promise.all(Array.from({ length: READERS }, () => check(tuple)));
      assert.deepEqual(
        granted,
        granted.map(() => true),
        `grant ${index}`,
      );
      const revoked = await api({ method: 'DELETE', path: '/v1/grants', body: tuple });
      assert.ok(revoked.status === 200 || revoked.status === 204, revoked.text);
      const after = await Promise.all(Array.from({ length: READERS }, () => check(tuple)));
      assert.deepEqual(
        after,
        after.map(() => false),
        `revocation ${index}`,
      );
      if (index % 10 !== 0) continue;
      const { results } = Object((await post('/v1/check/bulk', { checks: [tuple] })).json);
      assert.equal(results[0].authorized, false);
      for (const [path, entities] of [
        ['/v1/objects?subject=user:ada&relation=viewer', 'objects'],
        [`/v1/subjects?object=${tuple.object}&relation=viewer`, 'subjects'],
      ] as const) {
        assert.deepEqual(Object((await api({ method: 'GET', path })).json)[entities], []);
      }
    }
    const served = linesOf(grantd.process.stderr).filter((line) => line.includes('"status":200'));
    const here = served.filter((line) => line.includes('"thread":2')).length;
    assert.ok(here > 0 && here < served.length, `${here} of ${served.length} in the second thread`);
  });

  it('both refuse a key as soon as its revocation is acknowledged', async () => {
    for (let index = 0; index < REVOKED_KEYS; index += 1) {
      const { key_id: keyId, key } = Object((await post('/v1/keys', { name: 'one', scopes: ['check:read'] })).json);
      const body = { subject: 'user:ada', relation: 'viewer', object: 'document:1' };
      const use = async (): Promise<number> => (await api({ method: 'POST', path: '/v1/check', body, key })).status;
      const useAll = async () => new Set(await Promise.all(Array.from({ length: ASKED_AT_ONCE }, use)));
      assert.deepEqual(await useAll(), new Set([200]));
      assert.equal((await api({ method: 'DELETE', path: `/v1/keys/${keyId}` })).status, 204);
      assert.deepEqual(await useAll(), new Set([401]), `key ${index}`);
    }
  });

  it('count in one place: metrics, and the windows of plans', async () => {
    const pattern = /^grantd_http_request_seconds_count\{operation="check",status="200"\} (\d+)$/m;
    assert.equal(await metric(pattern), 2 * READERS * WRITES + REVOKED_KEYS * ASKED_AT_ONCE);
    assert.equal(await metric(/^grantd_page_cache_limit_bytes (\d+)$/m), 256 * 1024 ** 2);
    assert.ok((await metric(/^process_resident_memory_bytes (\d+)$/m)) < 4 * 1024 ** 3);

    const { console_url: operatorUrl, operator_token: token, tenant_id: tenantId } = readDevFacts(directory);
    const updated = await call(operatorUrl, {
      method: 'PATCH',
      path: `/operator/v1/tenants/${tenantId}`,
      key: token,
      body: { plan: 'limited' },
    });
    assert.equal(updated.status, 200, updated.text);
    const statuses: number[] = [];
    while (statuses.length < ASKED) {
      const tuple = { subject: 'user:ada', relation: 'viewer', object: 'document:plan' };
      const answers = await Promise.all(Array.from({ length: 20 }, () => post('/v1/check', tuple)));
      statuses.push(...answers.map(({ status }) => status));
    }
    const allowed = statuses.filter((status) => status === 200).length;
    // Each thread learns of the plan from its next handle: until then nothing is counted.
    assert.ok(allowed <= LIMITED.requests + 40, `${allowed} were let through`);
    assert.ok(allowed >= LIMITED.requests / 2, `${allowed} were let through`);
  });

  it('refuse a second process the address', async () => {
    const other = useDirectory();
    const { port } = new URL(readDevFacts(directory).base_url);
    const environment = { ...testEnvironment(other), GRANTD_HTTP_ADDRESS: `127.0.0.1:${port}` };
    const { code, stderr } = await new DevProcess(['dev', '--threads', '2'], environment).ended;
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`The address 127.0.0.1:${port} is in use by `));
  });

  it('stop together', async () => {
    const open = Array.from({ length: 8 }, () =>
      check({ subject: 'user:a', relation: 'viewer', object: 'document:b' }),
    );
    await Promise.allSettled(open);
    const { code, stderr } = await grantd.process.stop();
    assert.equal(code, 0, stderr.slice(-2000));
    const loud = stderr.split('\n').filter((line) => /"level":"(?:warn|error)"/.test(line));
    assert.deepEqual(loud, []);
  });
});
