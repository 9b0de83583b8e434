// What `helm test` runs, run against a service: it passes where grantd answers, and fails where an answer is wrong. And
// the commands that the notes name after an installation: what they name is there, and grantd knows its commands.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { type KubernetesObject, missingHelm, type RenderOptions, render, renderNotes } from './support/helm.ts';
import { scriptOf, TOKEN, usePodService } from './support/pod-script.ts';

const SCRIPT = scriptOf('test');
const run = promisify(execFile);

const missing = await missingHelm('the notes of the chart');
const { directory, service, environment, run: runPod } = usePodService();

describe('what helm test runs', () => {
  const runScript = (publicUrl: string) => runPod(SCRIPT, { PUBLIC_URL: publicUrl });

  async function tenantsLeft(): Promise<number> {
    const response = await fetch(`${service().consoleUrl}/operator/v1/tenants`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    const { tenants }: { tenants: { state: string }[] } = JSON.parse(await response.text());
    return tenants.filter(({ state }) => state === 'active').length;
  }

  it('passes, and leaves no tenant behind', async () => {
    const { code, output } = await runScript(service().baseUrl);
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
    [...(await renderNotes(options)).matchAll(/^ {5}(\S.*)$/gm)].map(([, command = '']) => command);
  const find = (objects: readonly KubernetesObject[], kind: string, name: string): KubernetesObject =>
    objects.find((each) => each.kind.toLowerCase() === kind && each.metadata.name === name) ??
    assert.fail(`There is no ${kind} ${name}.`);

  for (const options of [{ ci: 'minimal' }, { ci: 'standalone' }, HIGH, EXTERNAL]) {
    it(`of ${options.ci} name objects of the release`, async () => {
      const objects = await render(options);
      const commands = await commandsOf(options);
      const last = options === HIGH ? [] : ['port-forward'];
      const words = ['rollout', 'helm', 'exec', 'exec', 'port-forward', 'ask', 'ask', 'ask', 'get', ...last];
      assert.deepEqual(
        commands.map(
          (command) => /\bkubectl --namespace authorization (\S+)/.exec(command)?.[1] ?? /^\w+/.exec(command)?.[0],
        ),
        words,
      );
      for (const command of commands) {
        const [, kind = '', name = ''] = / (deployment|statefulset|service)\/(\S+)/.exec(command) ?? [];
        if (kind !== '') find(objects, kind, name);
        const [, port] = / port-forward \S+ 80[89]0:(\d+)\b/.exec(command) ?? [];
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
    const read = async (options: RenderOptions): Promise<string> => (await commandsOf(options))[8] ?? '';
    assert.match(
      await read({ ci: 'minimal' }),
      / get secret grantd-operator --output go-template='\{\{index \.data "token" \| base64decode\}\}'$/,
    );
    assert.match(await read(EXTERNAL), / get secret grantd-operators --output go-template='\{\{index \.data "root" /);
  });

  it('lead to a first tenant, grant and check, and to the reference', async () => {
    // In the place of a cluster: what runs in a pod runs here, and the address of the service is its own.
    const kubectl = '#!/bin/sh\nif [ "$3" = exec ]; then shift 5; exec "$@"; fi\n';
    writeFileSync(join(directory, 'kubectl'), kubectl, { mode: 0o755 });
    const [, , ...commands] = await commandsOf({ ci: 'minimal' });
    const script = commands.slice(0, 6).join('\n').replaceAll('http://127.0.0.1:8080', service().baseUrl);
    const { stdout } = await run('sh', ['-euc', script], { env: environment() });
    assert.match(stdout, /^\{"grant_id":.*\}\n\{"authorized":true,.*\}\n$/);
    assert.match(await renderNotes({ ci: 'minimal' }), /http:\/\/127\.0\.0\.1:8080\/docs\.$/m);
    assert.equal((await fetch(`${service().baseUrl}/docs`)).status, 200);
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
