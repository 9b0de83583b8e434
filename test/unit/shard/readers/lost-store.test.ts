// A reader whose shard has lost the store: it has no lease, and sends everything on to the owner.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUILT_IN_PLANS } from '../../../../src/core/plans.ts';
import { rankShards, slotOfTenant } from '../../../../src/core/slots.ts';
import { relationNumber } from '../../../../src/core/tuples.ts';
import { HARNESS_META, ShardHarness } from '../../../kit/shard-harness.ts';
import { META } from '../../../kit/store/store-fixtures.ts';
import { waitFor } from '../../../kit/wait-for.ts';

const PLANS = new Map(Array.from(BUILT_IN_PLANS, ([name, plan]) => [name, { ...plan, readers: 1 }]));
const [OWNER, READER] = ['shard-1', 'shard-2'];

test('a shard without a lease is no reader, until it has one again', async (t) => {
  const time = { aheadMs: 0 };
  const harness = new ShardHarness({ exclusive: false, plans: PLANS, aheadMs: () => time.aheadMs });
  t.after(() => harness.killAll());
  const owner = await harness.start(OWNER);
  const reader = await harness.start(READER);
  let tenantId = harness.ids.create('ten');
  const isOwned = () => rankShards([OWNER, READER], slotOfTenant(tenantId, HARNESS_META.slots))[0] === OWNER;
  while (!isOwned()) tenantId = harness.ids.create('ten');
  const attempt = () => ({ requestId: harness.ids.create('req'), expiresAtMs: owner.node.monotonicMs() + 10_000 });
  const outcome = (asked: Promise<unknown>): Promise<unknown> =>
    asked.then(
      () => 'answered',
      (error) => error.kind ?? error.code,
    );
  const tenant = { tenantId, name: 'test', plan: 'unlimited', operator: 'test' };
  await waitFor('an owner that has opened the slot', async () => {
    return (await outcome(owner.operator.createTenant(attempt(), tenant))) === 'answered';
  });
  const { keyId, text: key } = await harness.createKey(owner, tenantId);
  const authenticate = () => reader.connection.authenticateAtReader({ tenantId, keyId, key });
  const until = (expected: string) =>
    waitFor(`a reader that is ${expected}`, async () => (await outcome(authenticate())) === expected);
  await until('answered');
  const { handle } = await authenticate();
  const check = async () => reader.connection.check(handle, 'user:a', relationNumber('viewer') ?? 0, 'doc:1');
  assert.equal(await outcome(check()), 'answered');

  reader.faults.turn('fail-before', ['writeHeartbeat']);
  time.aheadMs += META.leaseMs;
  await until('not-serving');
  assert.equal(await outcome(check()), 'not-serving');

  reader.faults.restore(['writeHeartbeat']);
  await until('answered');
});
