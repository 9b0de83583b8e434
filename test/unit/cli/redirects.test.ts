// A service that redirects: nothing is asked, and nothing believed, at another address.

import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { runCli } from './cli-run.ts';

const listening = (server: Server): Promise<void> =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

let asked = 0;
const target = createServer((_request, response) => {
  asked += 1;
  response.end('{"authorized":true,"checked_at":"2026-01-01T00:00:00.000Z"}');
});
let status = 307;
const redirecting = createServer((request, response) => {
  request.resume();
  response.writeHead(status, { Location: `${urlOf(target)}/v1/check` }).end();
});

before(() => Promise.all([listening(target), listening(redirecting)]));
after(() => {
  target.close();
  redirecting.close();
});

test('no command follows a redirect: it fails, and says where it led', async () => {
  for (status of [301, 302, 303, 307, 308]) {
    for (const args of [
      ['check', 'user:a', 'viewer', 'document:secret'],
      ['rules', 'show'],
    ]) {
      const run = await runCli(args, { key: { url: urlOf(redirecting), secret: 'gk1_x' } });
      assert.deepEqual([run.code, run.stdout], [1, '']);
      assert.match(run.stderr, /redirects to "http:.*which is not followed.*Does that address name the API itself\?/);
    }
  }
  assert.equal(asked, 0);
});
