// How the application behaves, on a real grantd that is started for the tests.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Grantd } from '@grantd/client';
import { startGrantd } from '@grantd/testing';

const service = await startGrantd();
const tenant = service.newTenant();
Object.assign(process.env, { GRANTD_URL: tenant.url, GRANTD_KEY: tenant.key, PORT: '0' });
const { url } = await import('./express.ts');

test('viewers read a document', async () => {
  await new Grantd(tenant).createGrant({ subject: 'user:ada', relation: 'viewer', object: 'document:plan' });
  const statusFor = async (user: string): Promise<number> =>
    (await fetch(`${url}/documents/plan`, { headers: { 'x-authenticated-user': user } })).status;
  assert.equal(await statusFor('ada'), 200);
  assert.equal(await statusFor('bob'), 403);
});

test('nobody reads one while grantd is away', async () => {
  await service.stop();
  const headers = { 'x-authenticated-user': 'ada' };
  assert.equal((await fetch(`${url}/documents/plan`, { headers })).status, 503);
  assert.equal((await fetch(`${url}/documents`, { headers })).status, 503);
});
