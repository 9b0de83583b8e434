// The keys that `grantd testing` accepts beside real ones.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { GrantdError } from '../../../src/core/errors.ts';
import type { Front, TenantSession } from '../../../src/front/front.ts';
import { acceptTestKeys } from '../../../src/roles/testing.ts';

const CONTEXT = { requestId: 'req_1', deadlineMs: 1 };

/** A front whose sessions show the key that it got. */
const front: Front = {
  authenticate: (_context, keyId) => ({ keyId }) as unknown as TenantSession,
  ready: () => true,
  async close() {},
};

it('a test key becomes the real key of one tenant, and any other key stays what it is', async () => {
  let made = 0;
  const testing = acceptTestKeys(front, async () => `key ${++made}`);
  const keyIdOf = async (key: string) => (await testing.authenticate(CONTEXT, key)).keyId;
  assert.deepEqual(await Promise.all(['test_a', 'test_a', 'test_b', 'gk1_a'].map(keyIdOf)), [
    'key 1',
    'key 1',
    'key 2',
    'gk1_a',
  ]);
  assert.ok(!(testing.authenticate(CONTEXT, 'test_a') instanceof Promise));
});

it('a tenant that could not be made is made at the next use', async () => {
  let isAway = true;
  const testing = acceptTestKeys(front, async () => {
    if (isAway) throw new GrantdError('unavailable', 'away');
    return 'key';
  });
  await assert.rejects(async () => testing.authenticate(CONTEXT, 'test_a'), { code: 'unavailable' });
  isAway = false;
  assert.equal((await testing.authenticate(CONTEXT, 'test_a')).keyId, 'key');
});

it('the tenants of a process have a bound', async () => {
  const testing = acceptTestKeys(front, async () => 'key', { tenantsMax: 2 });
  for (const key of ['test_a', 'test_b', 'test_a']) await testing.authenticate(CONTEXT, key);
  assert.throws(() => testing.authenticate(CONTEXT, 'test_c'), { code: 'unauthorized', message: /2 test tenants/ });
  assert.throws(() => testing.authenticate(CONTEXT, 'test_é'), { code: 'unauthorized', message: /1 to 64/ });
});
