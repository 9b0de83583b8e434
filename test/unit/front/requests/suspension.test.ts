// A front whose machine was suspended between two tries of a write: its monotonic clock stood still, so the deadline
// has not passed for it, while the owner has forgotten what the first try did. Sent again, the write would be done
// again.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { GrantdError } from '../../../../src/core/errors.ts';
import { ALL_SCOPES } from '../../../../src/core/scopes.ts';
import type { Tuple } from '../../../../src/core/tuples.ts';
import { RepeatGuard, SUSPENSION_MS_MAX } from '../../../../src/front/requests/flight-requests.ts';
import { systemClock } from '../../../../src/roles/process/system.ts';
import { ShardFailure } from '../../../../src/shard/shard.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';
import { createCuttableTransport } from '../cuttable-transport.ts';
import { contextFor, setStage, until } from '../harness.ts';

const tuple: Tuple = { subject: 'user:ann', relation: 'viewer', object: 'doc:1' };
/** Longer than an owner knows an operation. */
const NIGHT_MS = 8 * 3_600_000;

const unknown = (error: unknown) =>
  error instanceof GrantdError && error.code === 'unavailable' && /outcome is unknown/.test(error.message);

/** A stage whose front is on a machine of its own. */
async function setSuspendableStage(t: TestContext, peer: 'front' | 'console' = 'front') {
  let wallAheadMs = 0;
  const network = createCuttableTransport();
  const stage = await setStage(t, {
    clock: { ...systemClock, wallMs: () => Date.now() + wallAheadMs },
    openStream: network.openStream,
    front: { peer },
  });
  const address = stage.servers[0]?.address ?? '';
  return {
    stage,
    network,
    address,
    setWall(byMs: number): void {
      wallAheadMs += byMs;
    },
    /** Time passes for the shard, which forgets what it has done, and for the front's wall clock alone. */
    suspend(): void {
      wallAheadMs += NIGHT_MS;
      stage.world.pass(NIGHT_MS);
    },
    /** The next write is done, and its connection is lost before the response. */
    loseResponse(then: () => void | Promise<void>): void {
      stage.shard.afterWrite = async () => {
        stage.shard.afterWrite = undefined;
        network.cut(address);
        await then();
        await until(() => !stage.front.ready(), 'the loss of the connection');
        network.heal(address);
      };
    },
    async suspendedWrites(): Promise<number> {
      const { values } = await stage.metrics.frontSuspendedWrites.get();
      return values[0]?.value ?? 0;
    },
  };
}

test('a grant that was revoked while the front was suspended does not come back, over a new connection', async (t) => {
  const { stage, suspend, loseResponse, suspendedWrites } = await setSuspendableStage(t);
  const session = await stage.session();
  const text = 'user:ann viewer doc:1';
  loseResponse(async () => {
    assert.equal(await stage.world.isGranted(stage.tenantId, text), true);
    suspend();
    await stage.world.revoke(stage.tenantId, text);
  });
  await assert.rejects(session.call('writeGrants', contextFor(), [{ ...tuple, revoke: false }]), unknown);
  assert.equal(await stage.world.isGranted(stage.tenantId, text), false);
  assert.equal(stage.shard.count('writeGrants'), 1);
  assert.equal(await suspendedWrites(), 1);
  // What begins after the suspension is as ever, and so is a read.
  assert.equal((await session.check(contextFor(), tuple)).authorized, false);
  const [result] = await session.call('writeGrants', contextFor(), [{ ...tuple, revoke: false }]);
  assert.equal(result?.kind, 'created');
});

test('a key and a tenant are not made again after a suspension, on the connection that stood', async (t) => {
  const { stage, suspend } = await setSuspendableStage(t, 'console');
  const session = await stage.session();
  const writes = [
    {
      name: 'createKey',
      write: () => session.createKey(contextFor(), { name: 'ci', scopes: ALL_SCOPES, expiresAtMs: undefined }),
    },
    {
      name: 'createTenant',
      write: () => stage.front.operator.createTenant(contextFor(), { name: 'x', plan: 'free', operator: 'ann' }),
    },
  ];
  for (const { name, write } of writes) {
    let tries = 0;
    stage.shard.afterWrite = () => {
      tries += 1;
      suspend();
      throw new ShardFailure('undecided', 'The tenure ended while the write was in flight.');
    };
    await assert.rejects(write(), unknown, name);
    assert.equal(tries, 1, name);
  }
});

test('a read is tried again whatever clocks say', async (t) => {
  const { stage, suspend } = await setSuspendableStage(t);
  const session = await stage.session();
  let tries = 0;
  stage.shard.onCall = (name) => {
    if (name !== 'listNamespaces') return;
    tries += 1;
    if (tries > 1) return;
    suspend();
    throw new ShardFailure('undecided', 'The tenure ended.');
  };
  assert.deepEqual(await session.call('listNamespaces', contextFor(), undefined), []);
  assert.equal(tries, 2);
});

for (const byMs of [SUSPENSION_MS_MAX - 200, -60_000]) {
  test(`a write is tried again where the wall clock is set by ${byMs} ms meanwhile`, async (t) => {
    const { stage, setWall, loseResponse, suspendedWrites } = await setSuspendableStage(t);
    const session = await stage.session();
    loseResponse(() => setWall(byMs));
    const [result] = await session.call('writeGrants', contextFor(), [{ ...tuple, revoke: false }]);
    assert.equal(result?.kind, 'created');
    assert.equal(stage.shard.count('writeGrants'), 2);
    assert.equal(await suspendedWrites(), 0);
  });
}

test('a guard measures from the first try on, and by the difference of the clocks alone', () => {
  const clock = new VirtualClock();
  const guard = new RepeatGuard(clock);
  assert.equal(guard.maySend(), true);
  clock.stall(60_000);
  assert.equal(guard.maySend(), true);
  for (let step = 0; step < 3; step += 1) clock.wallOffsetMs += SUSPENSION_MS_MAX / 3;
  assert.equal(guard.maySend(), true);
  clock.wallOffsetMs += 2;
  assert.equal(guard.maySend(), false);
  assert.equal(new RepeatGuard(clock).maySend(), true);
});
