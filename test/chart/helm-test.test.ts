// What `helm test` runs, run against a service: it passes where grantd answers, and fails where an answer is wrong.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { BARE_ENVIRONMENT } from '../kit/bare-environment.ts';
import { type HttpService, startHttpService } from '../kit/http-service.ts';
import { CHART } from './support/helm.ts';

const SCRIPT = readFileSync(join(CHART, 'files', 'test.mjs'), 'utf8');
const MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.ts');
const TOKEN = 'the-operator-token-of-the-helm-test';
const RUN_MS_MAX = 240_000;

describe('what helm test runs', () => {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-helm-test-'));
  let service: HttpService;
  before(async () => {
    service = await startHttpService({ GRANTD_OPERATOR_TOKEN: TOKEN, GRANTD_DEMO: 'false' });
    writeFileSync(join(directory, 'token'), TOKEN);
    // As in the image: a command in the PATH.
    writeFileSync(join(directory, 'grantd'), `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`, { mode: 0o755 });
  });
  after(async () => {
    await service.stop();
    rmSync(directory, { recursive: true });
  });

  async function run(publicUrl: string): Promise<{ readonly code: number | null; readonly output: string }> {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', SCRIPT], {
      env: {
        ...BARE_ENVIRONMENT,
        PATH: `${directory}:${process.env.PATH}`,
        GRANTD_OPERATOR_URL: service.consoleUrl,
        GRANTD_OPERATOR_TOKEN_FILE: join(directory, 'token'),
        PUBLIC_URL: publicUrl,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: RUN_MS_MAX,
    });
    const chunks: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    const [code] = await once(child, 'close');
    return { code, output: Buffer.concat(chunks).toString() };
  }

  async function tenantsLeft(): Promise<number> {
    const response = await fetch(`${service.consoleUrl}/operator/v1/tenants`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    const { tenants }: { tenants: { state: string }[] } = JSON.parse(await response.text());
    return tenants.filter(({ state }) => state === 'active').length;
  }

  it('passes, and leaves no tenant behind', async () => {
    const { code, output } = await run(service.baseUrl);
    assert.equal(code, 0, output);
    assert.match(output, /grantd works as expected\.\n$/);
    assert.doesNotMatch(output, /gk1_/);
    assert.equal(await tenantsLeft(), 0);
  });

  it('fails where a check is answered wrongly, and leaves no tenant behind', async () => {
    const yes = createServer((_, response) => response.end('{"authorized":true}')).listen(0, '127.0.0.1');
    await once(yes, 'listening');
    try {
      const { code, output } = await run(`http://127.0.0.1:${(yes.address() as AddressInfo).port}`);
      assert.equal(code, 1, output);
      assert.match(output, /AssertionError/);
    } finally {
      yes.closeAllConnections();
      yes.close();
    }
    assert.equal(await tenantsLeft(), 0);
  });

  it('holds no text that Kubernetes would replace in the arguments of a container', () => {
    assert.doesNotMatch(SCRIPT, /\$\(|\$\$/);
  });
});
