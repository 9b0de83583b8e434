// The readers of a shard: one of each tenant, however many ask for it; a bound; the end of those that nobody uses.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairTurns } from '../../../../src/core/async/turns.ts';
import type { TenantId } from '../../../../src/core/ids.ts';
import { PAGE_LIMITS, READER_LIMITS } from '../../../../src/shard/memory/limits.ts';
import { MemoryBudget } from '../../../../src/shard/memory/memory-budget.ts';
import { encodeBeginning } from '../../../../src/shard/readers/follow-tenant.ts';
import { Readers } from '../../../../src/shard/readers/readers.ts';
import { type FollowRequest, ShardFailure } from '../../../../src/shard/shard.ts';
import { createMetrics } from '../../../../src/telemetry/metrics.ts';
import { MemoryStore } from '../../../kit/store/memory-store.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';
import { ids } from '../tools.ts';

const OWNER = 'owner:7000';

function create({ owner = OWNER }: { owner?: string | undefined } = {}) {
  const clock = new VirtualClock();
  const asked: string[] = [];
  /** Where the owner is in truth. */
  const at = { address: OWNER };
  const follow = async (address: string, { tenantId, epoch, seq }: FollowRequest) => {
    asked.push(address);
    if (address !== at.address) {
      const named = { slot: 0, incarnation: 'inc_2', address: at.address, epoch: 3 };
      throw new ShardFailure('wrong-owner', 'It moved.', named);
    }
    const tenant = {
      tenantId: tenantId as TenantId,
      name: 't',
      plan: 'free',
      state: 'active',
      createdAtMs: 1,
    } as const;
    const commits = epoch === 0 ? encodeBeginning({ tenant, count: { seq, grants: 0, bytes: 0 } }) : '';
    return { epoch: 3, seq: 7, nextBase: 1, nowMs: 1, appliedSeq: 7, commits, more: false };
  };
  const readers = new Readers({
    metrics: createMetrics(),
    slots: 1,
    ownerOf: () => owner,
    owners: { follow },
    store: new MemoryStore({ clock }),
    clock,
    budget: new MemoryBudget(100_000_000, new FairTurns(clock)),
    pageLimits: PAGE_LIMITS,
    readerLimits: READER_LIMITS,
  });
  return { clock, asked, at, readers };
}

test('callers that come while a reader begins share it', async () => {
  const { asked, readers } = create();
  const tenantId = ids.create('ten');
  const [first, second] = await Promise.all([readers.open(tenantId), readers.open(tenantId)]);
  assert.ok(first === second && (await readers.open(tenantId)) === first);
  assert.deepEqual([asked, readers.list().length], [[OWNER], 1]);
  first?.end('idle');
  assert.equal(readers.list().length, 0);
  assert.notEqual(await readers.open(tenantId), first);
  assert.equal(asked.length, 2);
});

test('an owner that has moved is asked where the former one says, and the reader stays with it', async () => {
  const { asked, at, readers } = create();
  at.address = 'moved:7000';
  const reader = await readers.open(ids.create('ten'));
  await reader.confirmed();
  assert.deepEqual(asked, [OWNER, 'moved:7000', 'moved:7000']);
});

test('without a known owner no reader begins, and the next caller tries again', async () => {
  const { asked, readers } = create({ owner: '' });
  const tenantId = ids.create('ten');
  for (let times = 0; times < 2; times += 1) await assert.rejects(readers.open(tenantId), { kind: 'not-serving' });
  assert.deepEqual([asked, readers.list().length], [[], 0]);
});

test('a shard reads for at most 1000 tenants: the one that was used least recently makes room', async () => {
  const { clock, readers } = create();
  const opened = await Promise.all(Array.from({ length: 1000 }, () => readers.open(ids.create('ten'))));
  const [first, second] = opened;
  await clock.advance(10);
  await first?.confirmed();
  for (const reader of opened.slice(2)) await reader.confirmed();
  assert.notEqual(await readers.open(ids.create('ten')), undefined);
  assert.equal(opened.filter((reader) => reader.usedAtMs > (second?.usedAtMs ?? 0)).length, 999);
  assert.throws(() => second?.assertServing(), { kind: 'handle-unknown' });
  first?.assertServing();
});

test('a reader that nobody uses for half a minute ends, and others stay', async () => {
  const { clock, readers } = create();
  const [idle, used] = await Promise.all([readers.open(ids.create('ten')), readers.open(ids.create('ten'))]);
  await clock.advance(29_000);
  await used?.confirmed();
  assert.equal(readers.list().length, 2);
  await clock.advance(7000);
  assert.equal(readers.list().length, 1);
  assert.throws(() => idle?.assertServing(), { kind: 'handle-unknown' });
  used?.assertServing();
  await clock.advance(40_000);
  assert.deepEqual([readers.list().length, clock.timers], [0, 0]);
});

test('a shard that stops ends its readers, and none begins any more', async () => {
  const { clock, readers } = create();
  const reader = await readers.open(ids.create('ten'));
  const beginning = readers.open(ids.create('ten'));
  readers.close();
  await assert.rejects(beginning, { kind: 'not-serving' });
  await assert.rejects(readers.open(reader.tenantId), { kind: 'not-serving' });
  await assert.rejects(reader.confirmed(), { kind: 'handle-unknown' });
  assert.deepEqual([readers.list().length, clock.timers], [0, 0]);
});
