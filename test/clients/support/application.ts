// The application with documents that each client has as an example, on a real service: who may read what. It prints
// where it listens.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { call } from '../../kit/http-client.ts';
import type { HttpService } from '../../kit/http-service.ts';

async function checkGuard(url: string): Promise<void> {
  const statusFor = async (headers: Readonly<Record<string, string>>, document: string) =>
    (await call(url, { method: 'GET', path: `/documents/${document}`, headers })).status;
  assert.equal(await statusFor({ 'x-subject': 'user:ada' }, 'plan'), 200);
  assert.equal(await statusFor({ 'x-subject': 'user:bob' }, 'plan'), 403);
  assert.equal(await statusFor({ 'x-subject': 'user:ada' }, 'other'), 403);
  assert.equal(await statusFor({}, 'plan'), 401);
}

async function listOf(url: string, headers: Readonly<Record<string, string>>) {
  const { status, text } = await call(url, { method: 'GET', path: '/documents', headers });
  return status === 200 ? JSON.parse(text) : status;
}

/** Starts the application, which says where it listens, and ends it after the work. */
async function withApplication(
  [program, ...args]: readonly [string, ...string[]],
  environment: Readonly<Record<string, string>>,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const env = { PATH: process.env.PATH ?? '', ...environment, PORT: '0' };
  // What it logs of an outage is expected.
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  try {
    const [url] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended]);
    assert.match(String(url), /^http/, 'the application says where it listens');
    await work(url);
  } finally {
    child.kill();
    await ended;
  }
}

export async function checkApplication(
  service: HttpService,
  command: readonly [string, ...string[]],
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { key } = await service.createTenant();
  const body = { subject: 'user:ada', relation: 'viewer', object: 'document:plan' };
  const granted = await service.send({ method: 'POST', path: '/v1/grants', body, key });
  assert.equal(granted.status, 201);
  const ada = { 'x-subject': 'user:ada' };
  await withApplication(command, { ...environment, GRANTD_URL: service.baseUrl, GRANTD_KEY: key }, async (url) => {
    await checkGuard(url);
    assert.deepEqual(await listOf(url, ada), ['plan']);
    assert.deepEqual(await listOf(url, { 'x-subject': 'user:bob' }), []);
    assert.equal(await listOf(url, {}), 401);
  });
  // Nothing listens there, and without an answer nothing is shown.
  const away = { ...environment, GRANTD_URL: 'http://127.0.0.1:1', GRANTD_KEY: key };
  await withApplication(command, away, async (url) => {
    assert.equal((await call(url, { method: 'GET', path: '/documents/plan', headers: ada })).status, 503);
    assert.equal(await listOf(url, ada), 503);
  });
}
