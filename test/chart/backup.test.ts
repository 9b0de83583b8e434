// What the CronJob of backups runs, run against a service: every tenant's grants come back from what it wrote, and only
// what is whole has a name of its own.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { scriptOf, TOKEN, usePodService } from './support/pod-script.ts';

const SCRIPT = scriptOf('backup');
const WHOLE = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/;

describe('what the CronJob of backups runs', () => {
  // A tenant that BREAKS names has an export that breaks off. One that ENDLESS names is cut, but ends with 0.
  const {
    directory,
    service,
    environment,
    run: runPod,
  } = usePodService(
    `case "$1 $3" in "export $BREAKS") echo '{"half'; exit 1 ;; "export $ENDLESS") echo '{"export":{}}'; exit 0 ;; esac\n`,
  );
  const folder = join(directory, 'volume');
  beforeEach(() => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
  });

  async function grantd(...args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(join(directory, 'grantd'), args, {
      env: { ...environment(), BREAKS: 'none', ENDLESS: 'none' },
    });
    return stdout;
  }

  async function makeTenant(...objects: readonly string[]): Promise<string> {
    const { tenantId, key } = await service().createTenant();
    for (const object of objects) {
      const body = { subject: 'user:ann', relation: 'viewer', object };
      assert.equal((await service().send({ method: 'POST', path: '/v1/grants', key, body })).status, 201);
    }
    return tenantId;
  }

  const run = (set: Readonly<Record<string, string>> = {}) =>
    runPod(SCRIPT, { BREAKS: 'none', ENDLESS: 'none', BACKUP_FOLDER: folder, KEEP: '7', ...set });

  it('holds every tenant, and grants that come back into a new one', async () => {
    const acme = await makeTenant('doc:one', 'doc:two');
    const empty = await makeTenant();
    const suspended = await makeTenant('doc:three');
    const deleted = await makeTenant('doc:four');
    await service().setState(suspended, 'suspended');
    await grantd('tenants', 'delete', deleted, '--yes');
    // Of four tenants, so that the list has more than one page.
    const { code, output } = await run({ PAGE_LENGTH: '2' });
    assert.equal(code, 0, output);
    assert.doesNotMatch(output, new RegExp(TOKEN));
    const [name = '', ...others] = readdirSync(folder);
    assert.match(name, WHOLE);
    assert.deepEqual(others, []);
    const kept = [acme, empty, suspended].sort();
    const { tenants } = JSON.parse(readFileSync(join(folder, name, 'tenants.json'), 'utf8'));
    assert.deepEqual(tenants.map(({ tenant_id: id }: { tenant_id: string }) => id).sort(), kept);
    assert.deepEqual(readdirSync(join(folder, name)).sort(), [...kept.map((id) => `${id}.ndjson.gz`), 'tenants.json']);
    const file = join(directory, 'acme.ndjson');
    writeFileSync(file, gunzipSync(readFileSync(join(folder, name, `${acme}.ndjson.gz`))));
    const again = await makeTenant();
    await grantd('import', file, '--tenant', again);
    assert.equal(await grantd('export', '--tenant', again), await grantd('export', '--tenant', acme));
  });

  it('gives no name to what is not whole, and removes it the next time', async () => {
    const tenant = await makeTenant('doc:one');
    const { code, output } = await run({ BREAKS: tenant });
    assert.equal(code, 1, output);
    assert.match(output, /grantd export .* ended with status 1/);
    const [left = ''] = readdirSync(folder);
    assert.match(left, /\.incomplete$/);
    const cut = await run({ ENDLESS: tenant });
    assert.equal(cut.code, 1, cut.output);
    assert.match(cut.output, /The export has no end line/);
    assert.equal((await run()).code, 0);
    assert.ok(!readdirSync(folder).includes(left));
    assert.equal(readdirSync(folder).length, 1);
  });

  it('removes the oldest beyond what is kept, and nothing that it did not make', async () => {
    for (const each of ['2020-01-01T00-00-00Z', '2021-01-01T00-00-00Z', 'lost+found', '2019'])
      mkdirSync(join(folder, each));
    const { code, output } = await run({ KEEP: '2' });
    assert.equal(code, 0, output);
    const [first, second, third, ...rest] = readdirSync(folder).sort();
    assert.deepEqual([first, second, rest], ['2019', '2021-01-01T00-00-00Z', ['lost+found']]);
    assert.match(third ?? '', WHOLE);
  });

  it('removes nothing where the service does not answer', async () => {
    mkdirSync(join(folder, '2020-01-01T00-00-00Z'));
    const { code } = await run({ KEEP: '1', GRANTD_OPERATOR_URL: 'http://127.0.0.1:9' });
    assert.equal(code, 1);
    assert.ok(readdirSync(folder).includes('2020-01-01T00-00-00Z'));
  });

  it('holds no text that Kubernetes would replace in the arguments of a container', () => {
    assert.doesNotMatch(SCRIPT, /\$\(|\$\$/);
  });
});
