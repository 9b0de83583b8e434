// What `helm test` runs, run against a service: it passes where grantd answers, and fails where an answer is wrong. And
// the commands that the notes name after an installation: what they name is there, and grantd knows its commands.

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { BARE_ENVIRONMENT } from '../kit/bare-environment.ts';
import { type HttpService, startHttpService } from '../kit/http-service.ts';
import { CHART, type KubernetesObject, missingHelm, type RenderOptions, render, renderNotes } from './support/helm.ts';

const SCRIPT = readFileSync(join(CHART, 'files', 'test.mjs'), 'utf8');
const MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.ts');
const TOKEN = 'the-operator-token-of-the-helm-test';
const RUN_MS_MAX = 240_000;
const run = promisify(execFile);

const missing = await missingHelm('the notes of the chart');
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

/** As the pods of the console and of the test have it. */
const environment = (): Record<string, string> => ({
  ...BARE_ENVIRONMENT,
  PATH: `${directory}:${process.env.PATH}`,
  GRANTD_OPERATOR_URL: service.consoleUrl,
  GRANTD_OPERATOR_TOKEN_FILE: join(directory, 'token'),
});

describe('what helm test runs', () => {
  async function runScript(publicUrl: string): Promise<{ readonly code: number | null; readonly output: string }> {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', SCRIPT], {
      env: { ...environment(), PUBLIC_URL: publicUrl },
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
    const { code, output } = await runScript(service.baseUrl);
    assert.equal(code, 0, output);
    assert.match(output, /grantd works as expected\.\n$/);
    assert.doesNotMatch(output, /gk1_/);
    assert.equal(await tenantsLeft(), 0);
  });

  it('fails where a check is answered wrongly, and leaves no tenant behind', async () => {
    const yes = createServer((_, response) => response.end('{"authorized":true}')).listen(0, '127.0.0.1');
    await once(yes, 'listening');
    try {
      const { code, output } = await runScript(`http://127.0.0.1:${(yes.address() as AddressInfo).port}`);
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

describe('the commands of the notes', { skip: missing ?? false }, () => {
  const HIGH: RenderOptions = { ci: 'high-availability' };
  const EXTERNAL: RenderOptions = { ci: 'external-secrets' };

  const commandsOf = async (options: RenderOptions): Promise<string[]> =>
    [...(await renderNotes(options)).matchAll(/^ {5}((?:kubectl|helm) .+)$/gm)].map(([, command = '']) => command);
  const find = (objects: readonly KubernetesObject[], kind: string, name: string): KubernetesObject =>
    objects.find((each) => each.kind.toLowerCase() === kind && each.metadata.name === name) ??
    assert.fail(`There is no ${kind} ${name}.`);

  for (const options of [{ ci: 'minimal' }, { ci: 'standalone' }, HIGH, EXTERNAL]) {
    it(`of ${options.ci} name objects of the release`, async () => {
      const objects = await render(options);
      const commands = await commandsOf(options);
      const last = options === HIGH ? [] : ['port-forward'];
      const words = ['rollout', 'helm', 'exec', 'exec', 'get', ...last];
      assert.deepEqual(
        commands.map((command) => /^kubectl --namespace authorization (\S+)|^helm/.exec(command)?.[1] ?? 'helm'),
        words,
      );
      for (const command of commands) {
        const [, kind = '', name = ''] = / (deployment|statefulset|service)\/(\S+)/.exec(command) ?? [];
        if (kind !== '') find(objects, kind, name);
        const [, port] = / port-forward \S+ 8090:(\d+)$/.exec(command) ?? [];
        const { ports = [] } = (port === undefined ? {} : find(objects, kind, name).spec) as {
          ports?: { port: number }[];
        };
        assert.deepEqual(
          ports.map((each) => String(each.port)),
          port === undefined ? [] : [port],
        );
      }
    });
  }

  it('read the token from the Secret that the console reads', async () => {
    const read = async (options: RenderOptions): Promise<string> => (await commandsOf(options))[4] ?? '';
    assert.match(
      await read({ ci: 'minimal' }),
      / get secret grantd-operator --output go-template='\{\{index \.data "token" \| base64decode\}\}'$/,
    );
    assert.match(await read(EXTERNAL), / get secret grantd-operators --output go-template='\{\{index \.data "root" /);
  });

  it('create a tenant and a key for it', async () => {
    const lines = (await commandsOf({ ci: 'minimal' })).flatMap((command) => command.split(' -- ')[1] ?? []);
    let tenant = '';
    const keys: string[] = [];
    for (const line of lines) {
      const [program = '', ...args] = line.replace('TENANT_ID', tenant).split(' ');
      const { stdout } = await run(join(directory, program), args, { env: environment() });
      tenant ||= /\bten_\w+/.exec(stdout)?.[0] ?? '';
      keys.push(...(/\bgk1_\w+/.exec(stdout) ?? []));
    }
    assert.equal(keys.length, 1);
  });

  it('lead to the console where the values let it be reached, and warn what that means', async () => {
    const notes = await renderNotes(HIGH);
    assert.match(notes, /at https:\/\/console\.example\.com\/\.$/m);
    assert.match(notes, /the whole API of the operator/);
    assert.match(notes, /keep each browser on one of them/);
    assert.doesNotMatch(notes, /trustedProxies is empty/);
    assert.match(await renderNotes({ ...HIGH, set: { trustedProxies: [] } }), /trustedProxies is empty/);
    assert.doesNotMatch(await renderNotes({ ci: 'minimal' }), /reachable from outside/);
  });
});
