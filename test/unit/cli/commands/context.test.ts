// `grantd context …`: what it keeps, says and never shows.

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ContextFile } from '../../../../packages/cli/src/context-file.ts';
import { createApiKey } from '../../../../src/core/api-keys.ts';
import { IdFactory } from '../../../../src/core/ids.ts';
import { systemClock, systemRandom } from '../../../../src/roles/process/system.ts';
import { chooseService } from '../../../../src/roles/service-choice.ts';
import { useDirectory } from '../../../kit/directory.ts';
import { type CliRun, runCli } from '../cli-run.ts';

const directory = useDirectory();

const ids = new IdFactory(systemClock, systemRandom);
const TENANT = ids.create('ten');
const KEY_ID = ids.create('key');
const KEY = createApiKey({ tenantId: TENANT, keyId: KEY_ID }, systemRandom);
const TOKEN = 'an-operator-token-of-32-characters-or-more';

/** With its own file of contexts. */
function machine(): (args: string, stdin?: string, environment?: Record<string, string>) => Promise<CliRun> {
  const contexts = new ContextFile(join(mkdtempSync(join(directory, 'home-')), 'contexts.json'));
  return async (args, stdin = '', environment = {}) => {
    const chooses = (name: string | undefined) => chooseService(environment, contexts, name);
    const run = await runCli(args.split(' '), { contexts, chooseService: chooses, stdin });
    assert.doesNotMatch(run.stdout + run.stderr, /gk1_[0-9A-Za-z]|an-operator-token/, 'a secret is never shown');
    return run;
  };
}

test('a context is added, chosen, shown and removed', async () => {
  const grantd = machine();
  assert.equal((await grantd('context add dev --url http://127.0.0.1:8080 --key-stdin', `${KEY}\n`)).code, 0);
  const added = await grantd(`context add prod --url https://x.example --token-stdin --tenant ${TENANT}`, TOKEN);
  assert.match(added.stderr, /To use it: "grantd context use prod"/);
  const listed = (await grantd('context list')).stdout.split('\n');
  assert.match(listed[1] ?? '', new RegExp(`^\\* +dev +http://127\\.0\\.0\\.1:8080 +${KEY_ID} +${TENANT}`));
  assert.match(listed[2] ?? '', /^ +prod +https:\/\/x\.example +operator's token/);

  const shown = JSON.parse((await grantd('context show --json')).stdout);
  assert.deepEqual(shown, {
    source: 'the context "dev" (grantd context use)',
    url: 'http://127.0.0.1:8080',
    key_id: KEY_ID,
    key_tenant_id: TENANT,
  });
  assert.match((await grantd('context show --use-context prod')).stdout, /^operator_url +https:\/\/x\.example$/m);
  const set = { GRANTD_URL: 'http://env.example', GRANTD_KEY: KEY };
  assert.match(
    (await grantd('context show', '', set)).stdout,
    /^source +the environment\nurl +http:\/\/env\.example$/m,
  );

  assert.equal((await grantd('context use prod')).code, 0);
  assert.match((await grantd('context show')).stdout, /^source +the context "prod"/m);
  assert.equal((await grantd('context remove prod')).code, 0);
  assert.deepEqual(JSON.parse((await grantd('context list --json')).stdout), [
    { name: 'dev', current: false, url: 'http://127.0.0.1:8080', secret: KEY_ID, tenant: TENANT },
  ]);
});

test('what cannot be a context is refused, and nothing is kept', async () => {
  const grantd = machine();
  for (const [args, stdin, message] of [
    ['context add dev --url http://x', '', /Pass either --key-stdin or --token-stdin/],
    ['context add dev --url http://x --key-stdin --token-stdin', KEY, /Pass either/],
    ['context add dev --url http://x --key-stdin', '', /The API key on standard input must be a whole API key/],
    ['context add dev --url http://x --key-stdin', `${KEY}${KEY}`, /it has 170 characters/],
    ['context add dev --url http://x --key-stdin', 'x'.repeat(20_000), /must be at most \d+ bytes/],
    ['context add dev --url http://x --token-stdin', 'short', /operator's token on standard input must be 32 to/],
    [`context add dev --url http://x --key-stdin --tenant ${TENANT}`, KEY, /belongs to one tenant/],
    ['context add dev --url ftp://x --key-stdin', KEY, /must be an http or https URL/],
    ['context add ../dev --url http://x --key-stdin', KEY, /It must be 1 to 64 letters/],
    ['context add dev --key-stdin', KEY, /required option '--url <url>'/],
  ] as const) {
    const run = await grantd(args, stdin);
    assert.equal(run.code, 2, args);
    assert.match(run.stderr, message);
    assert.match(run.stderr, /^grantd: /);
  }
  assert.equal((await grantd('context list --json')).stdout, '[]\n');
  const missing = await grantd('context use nowhere');
  assert.deepEqual(
    [missing.code, missing.stderr],
    [1, 'grantd: There is no context "nowhere": "grantd context list" shows those there are.\n'],
  );
});

test('a context of the same name is replaced only if that is said', async () => {
  const grantd = machine();
  const add = 'context add dev --url http://one.example --key-stdin';
  assert.equal((await grantd(add, KEY)).code, 0);
  const again = await grantd('context add dev --url http://two.example --key-stdin', KEY);
  assert.deepEqual([again.code, again.stdout], [2, '']);
  assert.match(again.stderr, /already.*--replace/);
  assert.match((await grantd('context show')).stdout, /one\.example/);
  assert.equal((await grantd('context add dev --url http://two.example --key-stdin --replace', KEY)).code, 0);
  assert.match((await grantd('context show')).stdout, /two\.example/);
});
