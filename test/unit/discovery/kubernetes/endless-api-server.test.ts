// An API server, or what is at its address, whose responses do not end: each request fails, with bounded memory, and
// leaves no connection.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { KubeConfig } from '@kubernetes/client-node';
import { type ApiServer, createApiServer } from '../../../../src/discovery/kubernetes/api-server.ts';
import { type FloodingServer, startFlooding } from '../../../kit/flooding-server.ts';
import { waitFor } from '../../../kit/wait-for.ts';

const PATH = '/apis/discovery.k8s.io/v1/namespaces/grantd/endpointslices';
/** The longest that is read, and what the system keeps of a connection that nobody reads. */
const SENT_BYTES_MAX = (16 + 16) * 1024 * 1024;

let endless: FloodingServer;
let api: ApiServer;
before(async () => {
  endless = await startFlooding();
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    { name: 'c', server: endless.url, skipTLSVerify: true },
    { name: 'u', token: 'secret' },
  );
  api = createApiServer(async () => config);
});
after(() => endless[Symbol.asyncDispose]());

const requests: readonly (readonly [string, number, RegExp, (signal: AbortSignal) => Promise<unknown>])[] = [
  ['a list', 200, /longer than 16777216 characters/, (signal) => api.read(PATH, signal)],
  ['a refusal', 500, /responds with status 500/, (signal) => api.read(PATH, signal)],
  [
    'a line of a watch',
    200,
    /line of the watch is too long/,
    async (signal) => Array.fromAsync(await api.watch(PATH, signal)),
  ],
];

for (const [what, status, says, request] of requests) {
  test(`${what}, by flood`, async () => {
    [endless.kind, endless.status] = ['flood', status];
    const { sent } = endless;
    await assert.rejects(request(new AbortController().signal), says);
    await waitFor('the end of the connection', () => endless.open === 0);
    assert.ok(endless.sent - sent < SENT_BYTES_MAX, `${endless.sent - sent} bytes`);
  });

  test(`${what}, by trickle`, async () => {
    [endless.kind, endless.status] = ['trickle', status];
    const late = new AbortController();
    const requested = request(late.signal);
    await waitFor('the response to begin', () => endless.open === 1);
    late.abort(new Error('the time is over'));
    await assert.rejects(requested);
    await waitFor('the end of the connection', () => endless.open === 0);
  });
}
