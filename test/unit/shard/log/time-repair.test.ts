// The way back of a slot's time that is ahead of the wall clock. Nothing that was refused as expired ever holds again,
// wherever the repair is interrupted and whoever owns the slot later; and what is granted afterwards goes by the wall
// clock.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { TenantId } from '../../../../src/core/ids.ts';
import type { Tuple } from '../../../../src/core/tuples.ts';
import type { RepairedTime } from '../../../../src/shard/shard.ts';
import type { StoreHooks } from '../../../kit/store/faulty-store.ts';
import type { MemoryStore } from '../../../kit/store/memory-store.ts';
import type { StoreOperation } from '../../../kit/store/store-gate.ts';
import { createMemoryStore, OpenSlot, SLOT, settled, tuple, waitFor, wholeAuditLog } from '../tools.ts';

const START_MS = Date.UTC(2026, 10, 1);
const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

class Wall {
  ms = START_MS;
  readonly wallMs = (): number => this.ms;
}

const open = (wall: Wall, memory: MemoryStore, hooks: StoreHooks = {}): Promise<OpenSlot> =>
  OpenSlot.open(memory, { wallMs: wall.wallMs, hooks });

/** Repeats the call, with the rounds of the collection, as a node and a client do. */
async function repair(slot: OpenSlot): Promise<RepairedTime> {
  while (true) {
    await slot.collect();
    const repaired = await slot.operator.repairTime({ slot: SLOT, dryRun: false });
    if (repaired.state !== 'ending') return repaired;
  }
}

async function grant(slot: OpenSlot, handle: number, of: Tuple, expiresAtMs: number | null): Promise<string> {
  const [result] = await slot.connection.writeGrants(handle, slot.attempt(), [{ ...of, revoke: false, expiresAtMs }]);
  assert.ok(result);
  return result.kind;
}

type Claim = Awaited<ReturnType<OpenSlot['createKey']>>;

const authenticates = (slot: OpenSlot, { tenantId, keyId, key }: Claim): Promise<boolean> =>
  slot.front.authenticate({ tenantId, keyId, key }).then(
    () => true,
    () => false,
  );

/** A slot with a grant and a key that end every so often, whose clock was ahead for one write. */
async function slotAhead(aheadMs: number, hooks: StoreHooks = {}) {
  const wall = new Wall();
  const memory = await createMemoryStore();
  const slot = await open(wall, memory, hooks);
  const tenantId = await slot.createTenant();
  const handle = await slot.handle(tenantId);
  const ends = [-1, 1, 2].map((sign) => START_MS + aheadMs + sign * 1000);
  const tuples = ends.map((_, index) => tuple(`user:${index}`, 'doc:1'));
  for (const [index, of] of tuples.entries()) await grant(slot, handle, of, ends[index] ?? null);
  await grant(slot, handle, tuple('user:always', 'doc:1'), null);
  const keys: Claim[] = [];
  for (const end of ends) keys.push(await slot.createKey(handle, tenantId, end));
  wall.ms = START_MS + aheadMs;
  await slot.tenure.advance();
  wall.ms = START_MS + 5;
  return { wall, memory, slot, tenantId, handle, tuples, keys };
}

/** The first grant and the first key have ended, the others have not. */
async function assertOnlyFirstEnded(
  slot: OpenSlot,
  tenantId: TenantId,
  { tuples, keys }: { readonly tuples: readonly Tuple[]; readonly keys: readonly Claim[] },
): Promise<void> {
  const handle = await slot.handle(tenantId);
  for (const [index, of] of tuples.entries()) assert.equal(await slot.check(handle, of), index > 0);
  for (const [index, key] of keys.entries()) assert.equal(await authenticates(slot, key), index > 0);
  assert.equal(await slot.check(handle, tuple('user:always', 'doc:1')), true);
}

for (const [name, aheadMs] of Object.entries({ hour: HOUR_MS, year: YEAR_MS })) {
  test(`after a clock that was a ${name} ahead, time is set back, and nothing that had ended holds again`, async () => {
    const { wall, memory, slot, tenantId, handle, ...ending } = await slotAhead(aheadMs);
    assert.equal(slot.tenure.slotTime.aheadMs, aheadMs - 5);
    const { lastSeq, nextBase } = slot.tenure;
    const dry = await slot.operator.repairTime({ slot: SLOT, dryRun: true });
    assert.deepEqual(dry, { slot: SLOT, state: 'ahead', aheadMs: aheadMs - 5, wallMs: wall.ms, keys: 0 });
    assert.equal(slot.tenure.lastSeq, lastSeq);
    const short = tuple('user:short', 'doc:1');
    assert.equal(await grant(slot, handle, short, wall.ms + 1000), 'refused');
    // The row of the count now says up to when grants are collected.
    await slot.collect();
    await grant(slot, handle, tuple('user:other', 'doc:1'), null);
    await slot.tenure.checkpointed();

    assert.deepEqual(await repair(slot), {
      slot: SLOT,
      state: 'repaired',
      aheadMs: aheadMs - 5,
      wallMs: wall.ms,
      keys: 1,
    });
    assert.equal(slot.tenure.serving, false);
    assert.deepEqual(slot.lost, ['the time of its log was set back']);

    let heir = await open(wall, memory);
    assert.ok(heir.tenure.nextBase > nextBase, 'stamps go on');
    assert.ok(heir.tenure.slotTime.aheadMs <= 1);
    await assertOnlyFirstEnded(heir, tenantId, ending);
    let handled = await heir.handle(tenantId);
    const granted = wall.ms;
    assert.equal(await grant(heir, handled, short, granted + 1000), 'created');
    const key = await heir.createKey(handled, tenantId, granted + 1000);
    // Also where the state tables have the checkpoint behind the entry that set the time back.
    await heir.tenure.checkpointed();
    for (const restart of [false, true, true]) {
      if (restart) {
        heir.kill();
        heir = await open(wall, memory);
        handled = await heir.handle(tenantId);
      }
      wall.ms += 100;
      assert.equal(await heir.check(handled, short), true);
      assert.equal(await authenticates(heir, key), true);
    }
    wall.ms = granted + 999;
    assert.equal(await heir.check(handled, short), true);
    wall.ms = granted + 1000;
    assert.equal(await heir.check(handled, short), false);
    assert.equal(await authenticates(heir, key), false);
    await heir.collect();
    await assertOnlyFirstEnded(heir, tenantId, ending);
    await heir.tenure.applied();
    const log = (await wholeAuditLog(heir, tenantId)).map(({ change, actor }) => ({ ...JSON.parse(change), actor }));
    const expired = log.filter(({ action }) => action === 'grant.expired').map(({ subject }) => subject);
    assert.deepEqual(expired, ['user:0', 'user:short'], 'and new ones are collected');
    const revoked = log.filter(({ action }) => action === 'key.revoked');
    assert.deepEqual(
      revoked.map(({ actor }) => actor),
      ['system'],
    );
    const lately = await wholeAuditLog(heir, tenantId, { sinceMs: START_MS + 5, untilMs: wall.ms + 1 });
    assert.ok(lately.some(({ change }) => JSON.parse(change).subject === 'user:short'));
    const newest = await wholeAuditLog(heir, tenantId, { newestFirst: true, untilMs: wall.ms + 1 });
    assert.equal(JSON.parse(newest[0]?.change ?? '{}').subject, 'user:short');
  });
}

test('a time that is not ahead stays, and so does that of an owner without its lease', async () => {
  const wall = new Wall();
  const slot = await open(wall, await createMemoryStore());
  await slot.createTenant();
  wall.ms += 1000;
  const { lastSeq } = slot.tenure;
  assert.equal((await slot.operator.repairTime({ slot: SLOT, dryRun: false })).state, 'right');
  wall.ms -= HOUR_MS;
  slot.leaseValid = false;
  await assert.rejects(slot.operator.repairTime({ slot: SLOT, dryRun: false }), /no valid lease/);
  slot.leaseValid = true;
  assert.equal(slot.tenure.lastSeq, lastSeq);
  assert.equal(slot.tenure.serving, true);
});

test('time stays until every expired grant is collected', async () => {
  const { wall, memory, slot, tenantId, ...ending } = await slotAhead(HOUR_MS);
  const { loggedMs } = slot.tenure.slotTime;
  const waiting = await slot.operator.repairTime({ slot: SLOT, dryRun: false });
  assert.deepEqual([waiting.state, waiting.keys], ['ending', 1]);
  assert.equal(slot.tenure.slotTime.loggedMs, loggedMs);
  const repaired = await repair(slot);
  assert.deepEqual([repaired.state, repaired.keys], ['repaired', 0]);
  await assertOnlyFirstEnded(await open(wall, memory), tenantId, ending);
});

test('a tenant that comes while the entry waits to be created keeps time until its keys were looked at', async () => {
  const { slot } = await slotAhead(HOUR_MS);
  // The keys of the first tenant have been looked at.
  assert.equal((await slot.operator.repairTime({ slot: SLOT, dryRun: false })).state, 'ending');
  await slot.collect();
  slot.faults.turn('hold', ['append']);
  const created = slot.createTenant();
  await waitFor(() => slot.faults.heldCalls() === 1);
  const looked = slot.faults.calls('listKeys');
  const repaired = slot.operator.repairTime({ slot: SLOT, dryRun: false });
  assert.equal(await settled(repaired), false);
  slot.faults.restore(['append']);
  await created;
  assert.equal((await repaired).state, 'repaired');
  assert.equal(slot.faults.calls('listKeys'), looked + 1);
});

test('wherever a repair is interrupted, the slot has its old time or the new one, and nothing holds again', async () => {
  const left = new Set<'old' | 'new'>();
  for (const kind of ['fail-before', 'fail-after'] as const) {
    let whole = false;
    for (let appends = 0; !whole; appends += 1) {
      assert.ok(appends < 20, 'a repair ends');
      // The process dies at one append, before or after it is in the log.
      let last = Number.POSITIVE_INFINITY;
      const died = Promise.withResolvers<boolean>();
      const fault = (operation: StoreOperation, call: number) => {
        if (operation !== 'append' || call <= last) return undefined;
        died.resolve(false);
        slot.kill();
        return { kind };
      };
      const { wall, memory, slot, tenantId, ...ending } = await slotAhead(HOUR_MS, { fault });
      last = slot.faults.calls('append') + appends;
      const repaired = repair(slot).then(() => true);
      whole = await Promise.race([repaired.catch(() => false), died.promise]);
      const heir = await open(wall, memory);
      const isOld = heir.tenure.slotTime.aheadMs > 1;
      left.add(isOld ? 'old' : 'new');
      await assertOnlyFirstEnded(heir, tenantId, ending);
      if (isOld) assert.equal((await repair(heir)).state, 'repaired');
      const next = isOld ? await open(wall, memory) : heir;
      assert.ok(next.tenure.slotTime.aheadMs <= 1);
      await assertOnlyFirstEnded(next, tenantId, ending);
      next.kill();
    }
  }
  assert.deepEqual([...left].sort(), ['new', 'old']);
});

/** What a client has seen of one grant or key that ends. */
interface Seen {
  readonly endsMs: number;
  refused: boolean;
  asks(slot: OpenSlot, handle: number): Promise<boolean>;
}

const STEPS = fc.oneof(
  fc.record({
    kind: fc.constant('make' as const),
    inMs: fc.constantFrom(5, 1000, HOUR_MS, YEAR_MS),
    key: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('clock' as const),
    byMs: fc.constantFrom(1, 999, HOUR_MS, YEAR_MS, -HOUR_MS, -YEAR_MS),
  }),
  fc.record({ kind: fc.constant('ask' as const) }),
  fc.record({ kind: fc.constant('collect' as const) }),
  fc.record({ kind: fc.constant('repair' as const) }),
  fc.record({ kind: fc.constant('restart' as const), flush: fc.boolean() }),
);

test('whatever the clock does between repairs and takeovers, what was once refused as expired stays so', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(STEPS, { minLength: 8, maxLength: 30 }), async (steps) => {
      const wall = new Wall();
      const memory = await createMemoryStore();
      let slot = await open(wall, memory);
      const tenantId = await slot.createTenant();
      let handle = await slot.handle(tenantId);
      const seen: Seen[] = [];
      const reopen = async (): Promise<void> => {
        slot.kill();
        slot = await open(wall, memory);
        handle = await slot.handle(tenantId);
      };
      const askAll = async (): Promise<void> => {
        for (const each of seen) {
          const holds = await each.asks(slot, handle);
          assert.ok(!(holds && each.refused), 'it holds again');
          assert.equal(holds, !each.refused && each.endsMs > slot.tenure.slotTime.loggedMs);
          each.refused ||= !holds;
        }
      };
      for (const step of [...steps, { kind: 'repair' } as const, { kind: 'ask' } as const]) {
        if (step.kind === 'ask') await askAll();
        else if (step.kind === 'collect') await slot.collect();
        else if (step.kind === 'clock') wall.ms = Math.max(START_MS - YEAR_MS, wall.ms + step.byMs);
        else if (step.kind === 'repair') {
          const { loggedMs } = slot.tenure.slotTime;
          for (const each of seen) each.refused ||= each.endsMs <= loggedMs;
          const { state } = await repair(slot);
          if (state === 'repaired') await reopen();
          assert.ok(slot.tenure.slotTime.aheadMs <= 1);
        } else if (step.kind === 'restart') {
          if (step.flush) await slot.tenure.checkpointed();
          await reopen();
        } else {
          const endsMs = wall.ms + step.inMs;
          if (step.key) {
            // Refused if it has ended by the time of the log.
            const key = await slot.createKey(handle, tenantId, endsMs).catch(() => undefined);
            assert.equal(key === undefined, endsMs <= slot.tenure.slotTime.loggedMs);
            if (key !== undefined) seen.push({ endsMs, refused: false, asks: (at) => authenticates(at, key) });
          } else {
            const of = tuple(`user:${seen.length}`, 'doc:1');
            const refused = (await grant(slot, handle, of, endsMs)) === 'refused';
            seen.push({ endsMs, refused, asks: (at, by) => at.check(by, of) });
          }
        }
      }
      // Nothing that ends is forgotten by the collection.
      wall.ms += 3 * YEAR_MS;
      await slot.tenure.advance();
      await slot.collect();
      assert.equal(slot.tenure.tenants.get(tenantId)?.grantCount.grants, 0);
      slot.kill();
    }),
    { numRuns: 60 },
  );
});
