// What of a service or a file reaches a terminal: every command, told hostile names.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { escapeControls, escapeInLine } from '../../../../packages/cli/src/output/plain-text.ts';
import { type CliRun, runCli } from '../cli-run.ts';

/** A title of the window, a line erased, a C1 control sequence, a carriage return, text reversed. */
const HOSTILE = '\u001b]0;pwned\u0007\u001b[2K\u001b[1A\u009b31m\rok\u202egnp\u2066x\u200f';
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const DANGEROUS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

test('every control character and every change of direction becomes an escape of JSON; the rest stays', () => {
  const all = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code)).join('');
  assert.doesNotMatch(escapeControls(all), DANGEROUS);
  assert.equal(escapeControls('a\tb\nä\u{1f98a}'), 'a\tb\nä\u{1f98a}');
  assert.equal(escapeInLine('a\tb\n'), 'a\\u0009b\\u000a');
  assert.deepEqual(JSON.parse(escapeControls(JSON.stringify({ [HOSTILE]: HOSTILE }))), { [HOSTILE]: HOSTILE });
});

describe('a service that is hostile', () => {
  const id = 'ten_01k8x0000000000000000000zz';
  const time = '2026-01-01T00:00:00.000Z';
  const named = { tenant_id: id, key_id: 'k', name: HOSTILE, plan: HOSTILE, state: 'active', created_at: time };
  const grant = { subject: HOSTILE, relation: HOSTILE, object: HOSTILE, grant_id: 'g', created_at: time };
  const body = {
    ...{ ...named, scopes: [HOSTILE], [HOSTILE]: 1, plans: [named], next_cursor: null, authorized: true },
    ...{
      tenants: [named],
      keys: [named],
      grants: [grant],
      objects: [HOSTILE],
      subjects: [HOSTILE],
      excluded: [HOSTILE],
    },
    ...{ namespaces: [named], versions: [], slots: [named], members: [named], rules: [], checked_at: time },
  };
  let status = 200;
  const server = createServer((request, response) => {
    request.resume();
    const problem = { type: HOSTILE, title: HOSTILE, detail: HOSTILE };
    const warning = `299 - "x\u009b31m"`;
    response.writeHead(status, {
      'Content-Type': 'application/json',
      'X-Service-Warning': Buffer.from(warning).toString('latin1'),
    });
    response.end(JSON.stringify(status === 200 ? body : problem));
  });
  before(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  after(() => server.close());
  const grantd = (args: readonly string[]): Promise<CliRun> => {
    const { port } = server.address() as AddressInfo;
    return runCli(args, {
      target: { url: `http://127.0.0.1:${port}`, token: 't'.repeat(40) },
      columns: 120,
      terminal: true,
    });
  };

  for (const command of [
    ...['tenants list', `tenants show ${id}`, 'plans', 'slots', 'members', `keys list --tenant ${id}`],
    ...[`grants list user:a --tenant ${id}`, `objects user:a viewer --tenant ${id}`, `namespaces list --tenant ${id}`],
    ...[`subjects viewer doc:a --tenant ${id}`, `grants add user:a viewer doc:a --tenant ${id}`],
    ...[`check user:a viewer doc:a --tenant ${id}`, `rules history --tenant ${id}`, `export --tenant ${id}`],
  ]) {
    test(`moves no cursor: ${command}`, async () => {
      for (const code of [200, 400]) {
        status = code;
        for (const more of [[], ['--json']]) {
          const { stdout, stderr } = await grantd([...command.split(' '), ...more]);
          assert.doesNotMatch(stdout, DANGEROUS);
          assert.doesNotMatch(stderr, DANGEROUS);
          assert.notEqual(stdout + stderr, '');
        }
      }
    });
  }
});
