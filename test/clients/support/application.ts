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

export async function checkApplication(
  service: HttpService,
  [program, ...args]: readonly [string, ...string[]],
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { key } = await service.createTenant();
  const body = { subject: 'user:ada', relation: 'viewer', object: 'document:plan' };
  const granted = await service.send({ method: 'POST', path: '/v1/grants', body, key });
  assert.equal(granted.status, 201);
  const settings = { GRANTD_URL: service.baseUrl, GRANTD_KEY: key, PORT: '0' };
  const env = { PATH: process.env.PATH ?? '', ...environment, ...settings };
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  try {
    const [url] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended]);
    assert.match(String(url), /^http/, 'the application says where it listens');
    await checkGuard(url);
  } finally {
    child.kill();
    await ended;
  }
}
