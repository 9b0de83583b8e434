// `grantd apply` as a process against a real service: the file and the commands of the guide, in their order.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { readDevFacts, testEnvironment, useDev } from '../kit/dev-process.ts';
import { shellBlocks } from '../kit/shell-blocks.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PAGE = 'docs/operating/declared-tenants.md';
const run = promisify(execFile);

describe('declared tenants', () => {
  const { directory, data } = useDev();
  before(() => {
    mkdirSync(join(directory, 'bin'));
    symlinkSync(join(ROOT, 'bin', 'grantd'), join(directory, 'bin', 'grantd'));
  });

  it('are made by the commands of the guide, and their keys work', async () => {
    const [, file = ''] = /^```yaml\n(tenants:\n.*?)^```$/ms.exec(readFileSync(join(ROOT, PAGE), 'utf8')) ?? [];
    writeFileSync(join(directory, 'tenants.yaml'), file);
    const script = [`export PATH='${directory}/bin':"$PATH"`, ...shellBlocks(PAGE)].join('\necho ===\n');
    const env = testEnvironment(data);
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { cwd: directory, env });
    assert.match(stdout, /^2 tenants to create, 2 keys to create$/m);
    assert.match(stdout, /^2 tenants created, 2 keys created$/m);
    assert.match(stdout, /\nno change\n$/);

    const keys = readFileSync(join(directory, 'keys.ndjson'), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
    const { base_url: baseUrl } = readDevFacts(data);
    const call = async (name: string, path: string, body: object): Promise<number> => {
      const key = keys.find((each) => each.name === name)?.key;
      const response = await fetch(`${baseUrl}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      await response.body?.cancel();
      return response.status;
    };
    const tuple = { subject: 'user:ada', relation: 'editor', object: 'document:plan' };
    assert.equal(await call('web', '/v1/grants', tuple), 403);
    assert.equal(await call('sync', '/v1/grants', tuple), 201);
    assert.equal(await call('web', '/v1/check', { ...tuple, relation: 'viewer' }), 200);
  });
});
