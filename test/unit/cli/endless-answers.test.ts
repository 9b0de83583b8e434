// A wrong address whose responses do not end: a command fails and says so, with bounded memory and in bounded time.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ANSWER_BYTES_MAX, PROBLEM_BYTES_MAX, ServiceClient } from '../../../packages/cli/src/service-client.ts';
import { type FloodingServer, startFlooding } from '../../kit/flooding-server.ts';
import { waitFor } from '../../kit/wait-for.ts';

/** What the system keeps of a connection that nobody reads: no more than some megabytes. */
const BUFFERED_BYTES_MAX = 16 * 1024 * 1024;
const REQUEST = { method: 'GET', path: '/rules' } as const;

let wrong: FloodingServer;
before(async () => {
  wrong = await startFlooding();
});
after(() => wrong[Symbol.asyncDispose]());

const client = (timeoutMs?: number): ServiceClient =>
  new ServiceClient({ api: 'public', url: wrong.url, secret: 'gk1_x' }, timeoutMs === undefined ? {} : { timeoutMs });
const cut = (): Promise<void> => waitFor('the end of the connection', () => wrong.open === 0);

test('an answer beyond every answer of the service fails, also one that is small on the wire', async () => {
  wrong.status = 200;
  for (wrong.kind of ['flood', 'compressed'] as const) {
    const { sent } = wrong;
    await assert.rejects(client().readJson(REQUEST), /No response from the API at .*longer than 67108864 bytes/);
    await cut();
    assert.ok(wrong.sent - sent < ANSWER_BYTES_MAX + BUFFERED_BYTES_MAX, `${wrong.sent - sent} bytes`);
  }
});

test('an error whose text does not end fails with its status', async () => {
  [wrong.status, wrong.kind] = [502, 'flood'];
  const { sent } = wrong;
  await assert.rejects(client().readJson(REQUEST), /HTTP status 502: The response does not come from the API/);
  await cut();
  assert.ok(wrong.sent - sent < PROBLEM_BYTES_MAX + BUFFERED_BYTES_MAX, `${wrong.sent - sent} bytes`);
});

test('a response of which a byte comes now and then ends with the time for a request', async () => {
  wrong.kind = 'trickle';
  for (const [status, says] of [
    [200, /No response from the API at .*timeout/],
    [502, /HTTP status 502: The response does not come from the API/],
  ] as const) {
    wrong.status = status;
    await assert.rejects(client(300).readJson(REQUEST), says);
    await cut();
  }
  // A call whose answer may take as long as it likes.
  await assert.rejects(client(300).open(REQUEST), /HTTP status 502/);
  await cut();
});
