// A reader in the process of its owner, which the counts of commits spare questions: it asks exactly when it has to.

import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { FairTurns } from '../../../src/core/async/turns.ts';
import type { TenantId } from '../../../src/core/ids.ts';
import { BUILT_IN_PLANS } from '../../../src/core/plans.ts';
import { relationNumber } from '../../../src/core/tuples.ts';
import { type CommitCounts, commitCountsMemory, createCommitCounts } from '../../../src/shard/log/commit-counts.ts';
import { MemoryBudget } from '../../../src/shard/memory/memory-budget.ts';
import { createReaderShard } from '../../../src/shard/reader-shard.ts';
import type { FollowAnswer, TenantConnection } from '../../../src/shard/shard.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { createProcessClock } from '../../kit/process-clock.ts';
import { HARNESS_META, type RunningShard, ShardHarness } from '../../kit/shard-harness.ts';
import { random, turns } from './tools.ts';

const tuple = (object: string) => ({ subject: 'user:ada', relation: 'viewer', object }) as const;
const VIEWER = relationNumber('viewer') ?? assert.fail('a built-in relation has a number');

/** Of two threads: each has its own view of the same memory. */
const memory = commitCountsMemory(HARNESS_META.slots);

class World {
  readonly events: string[] = [];
  readonly harness: ShardHarness;
  /** Set: what the owner answers waits for this. */
  hold: Promise<void> | undefined;
  /** Of the reader's monotonic clock. */
  aheadMs = 0;
  /** Of both. */
  wallMs = Date.UTC(2026, 0, 1);
  owner!: RunningShard;
  reader!: ReturnType<typeof createReaderShard>;
  connection!: TenantConnection;
  handle = 0;
  tenantId!: TenantId;

  constructor() {
    const counts = createCommitCounts(memory);
    const commitCounts: CommitCounts = {
      read: counts.read,
      raise: (slot) => {
        this.events.push('raised');
        counts.raise(slot);
      },
    };
    this.harness = new ShardHarness({ commitCounts, wallMs: () => this.wallMs });
  }

  static async open(): Promise<World> {
    const world = new World();
    const { harness } = world;
    world.owner = await harness.start();
    world.tenantId = await harness.createTenant(world.owner);
    const { keyId, text } = await harness.createKey(world.owner, world.tenantId);
    const clock = createProcessClock(
      () => world.wallMs,
      () => world.aheadMs,
    );
    const { shard } = world.owner.node.connectShard();
    world.reader = createReaderShard(
      {
        store: harness.store,
        clock,
        random,
        metrics: createMetrics(),
        budget: new MemoryBudget(16 * 1024 * 1024, new FairTurns(clock)),
        owners: {
          follow: async (_, request): Promise<FollowAnswer> => {
            world.events.push('asked');
            const answer = await shard.call('followTenant', {}, request);
            await world.hold;
            return answer;
          },
        },
        commitCounts: createCommitCounts(memory),
      },
      { shardName: 'reader', meta: HARNESS_META, plans: BUILT_IN_PLANS, ownerAddress: 'shard-1:1' },
    );
    world.connection = world.reader.connect();
    const claim = { tenantId: world.tenantId, keyId, key: text };
    world.handle = (await world.connection.call('authenticateAtReader', {}, claim)).handle;
    return world;
  }

  check(object: string): ReturnType<TenantConnection['check']> {
    return this.connection.check(this.handle, 'user:ada', VIEWER, object);
  }

  async write(object: string, revoke = false): Promise<void> {
    const handle = await this.harness.open(this.owner, this.tenantId);
    this.events.length = 0;
    await this.harness.write(this.owner, handle, tuple(object), revoke);
    this.events.push('acknowledged');
  }

  /** The check, and how often it had to ask. */
  async asked(object: string): Promise<[unknown, number]> {
    const before = this.events.length;
    const answer = await this.check(object);
    return [answer, this.events.slice(before).filter((event) => event === 'asked').length];
  }
}

describe('a reader that shares counts of commits with its owner', () => {
  let world: World | undefined;
  afterEach(() => {
    world?.reader.close();
    world?.harness.killAll();
  });

  it('asks once after a commit, and answers at once until the next one', async () => {
    world = await World.open();
    for (const [index, revoke] of [false, true, false].entries()) {
      await world.write('document:1', revoke);
      assert.deepEqual(await world.asked('document:1'), [!revoke, 1], `write ${index}`);
      for (let repeat = 0; repeat < 3; repeat += 1) {
        assert.deepEqual(await world.asked('document:1'), [!revoke, 0]);
      }
    }
  });

  it('hears of a commit before its acknowledgement', async () => {
    world = await World.open();
    await world.write('document:1');
    assert.deepEqual(world.events.slice(0, 2), ['raised', 'acknowledged']);
  });

  it('asks again if something was committed while the answer was on its way', async () => {
    world = await World.open();
    await world.write('document:1');
    await world.asked('document:1');
    await world.write('document:2');
    const { promise, resolve } = Promise.withResolvers<void>();
    world.hold = promise;
    const early = world.check('document:2');
    // The owner answers before this commit, and the reader hears the answer after it.
    await turns(1);
    await world.write('document:3');
    resolve();
    world.hold = undefined;
    assert.equal(await early, true);
    assert.deepEqual(await world.asked('document:3'), [true, 1]);
    assert.deepEqual(await world.asked('document:3'), [true, 0]);
  });

  it('asks again after some seconds, so that the owner keeps commits for it', async () => {
    world = await World.open();
    await world.write('document:1');
    await world.asked('document:1');
    world.aheadMs += 10_000;
    assert.deepEqual(await world.asked('document:1'), [true, 1]);
  });

  it('answers nothing more once the tenure of its owner has ended', async () => {
    world = await World.open();
    await world.write('document:1');
    assert.deepEqual(await world.asked('document:1'), [true, 1]);
    await world.harness.stop(world.owner);
    await assert.rejects(async () => world?.check('document:1'), { kind: 'handle-unknown' });
  });

  it('lets a grant expire without a question until then', async () => {
    world = await World.open();
    const handle = await world.harness.open(world.owner, world.tenantId);
    const expiresAtMs = world.wallMs + 400;
    const grant = { ...tuple('document:1'), revoke: false, expiresAtMs };
    await world.owner.connection.writeGrants(handle, world.harness.attempt(), [grant]);
    const authorized = async (): Promise<[unknown, number]> => {
      const [answer, asked] = (await world?.asked('document:1')) ?? [];
      return [typeof answer === 'object' ? Object(answer).authorized : answer, asked ?? 0];
    };
    assert.deepEqual(await authorized(), [true, 1]);
    world.wallMs = expiresAtMs - 1;
    assert.deepEqual(await authorized(), [true, 0]);
    // Only the log says that it has expired: that is a question.
    world.wallMs = expiresAtMs;
    assert.equal((await authorized())[0], false);
    // Once it has said so, no clock brings the grant back.
    world.wallMs = expiresAtMs - 1;
    assert.equal((await authorized())[0], false);
  });

  it('refuses what it does not read', async () => {
    world = await World.open();
    const { connection, handle, harness } = world;
    const write = connection.call('writeGrants', { handle, attempt: harness.attempt() }, [
      { ...tuple('document:1'), revoke: false },
    ]);
    await assert.rejects(write, { kind: 'wrong-owner' });
    assert.deepEqual([...world.reader.routes().epochs], []);
  });
});
