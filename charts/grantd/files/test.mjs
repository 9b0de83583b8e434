// `helm test` runs this: it creates a tenant, a key and a grant, checks the grant, revokes it and checks again, and
// deletes the tenant. Any unexpected response ends it with status 1.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';

const grantd = (...args) => JSON.parse(execFileSync('grantd', [...args, '--json'], { encoding: 'utf8' }));

async function call(method, path, key, body) {
  const response = await fetch(new URL(path, process.env.PUBLIC_URL), {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(15_000),
  });
  const text = await response.text();
  process.stdout.write(`${method} ${path}: ${response.status}\n`);
  return { status: response.status, json: text === '' ? undefined : JSON.parse(text) };
}

const { tenant_id: tenant } = grantd('tenants', 'create', 'helm test');
process.stdout.write(`made ${tenant}\n`);
try {
  const { key } = grantd('keys', 'create', '--tenant', tenant, '--scope', 'check:read,grant:write');
  const grant = { subject: 'user:ann', relation: 'viewer', object: 'doc:readme' };
  const isAuthorized = async () => {
    const { status, json } = await call('POST', '/v1/check', key, grant);
    assert.equal(status, 200);
    return json.authorized;
  };
  assert.equal(await isAuthorized(), false);
  assert.equal((await call('POST', '/v1/grants', key, grant)).status, 201);
  assert.equal(await isAuthorized(), true);
  assert.equal((await call('DELETE', '/v1/grants', key, grant)).status, 204);
  assert.equal(await isAuthorized(), false);
} finally {
  grantd('tenants', 'delete', tenant, '--yes');
  process.stdout.write(`deleted ${tenant}\n`);
}
process.stdout.write('grantd works as expected.\n');
