// The readers of a shard beside the owner of a slot: what they count, and why they end.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUILT_IN_PLANS } from '../../../../src/core/plans.ts';
import { columnsOf, relationNumber, type Tuple } from '../../../../src/core/tuples.ts';
import { parseRuleSet } from '../../../../src/rules/parse-rule-set.ts';
import { RulesText } from '../../../../src/rules/rules-text.ts';
import { Lookups } from '../../../../src/shard/log/hot-pages.ts';
import { PAGE_LIMITS, READER_LIMITS } from '../../../../src/shard/memory/limits.ts';
import { reportShard } from '../../../../src/shard/observers.ts';
import { Peers } from '../../../../src/shard/peers/peers.ts';
import { noReadIndexes } from '../../../../src/shard/readers/follow-tenant.ts';
import { Readers } from '../../../../src/shard/readers/readers.ts';
import { type CheckAnswer, ShardFailure } from '../../../../src/shard/shard.ts';
import { createMetrics } from '../../../../src/telemetry/metrics.ts';
import { tenantMethods } from '../../../kit/shard-methods.ts';
import { META } from '../../../kit/store/store-fixtures.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';
import { ids, OpenSlot, openSlot, reportedParts, SECRETS, SEGMENT_SIZE, tuple } from '../tools.ts';

const PLANS = new Map(Array.from(BUILT_IN_PLANS, ([name, plan]) => [name, { ...plan, readers: 1 }]));

const HOUR_MS = 3_600_000;
const LISTING = { relation: 'viewer', namespace: undefined, limit: 10, cursor: undefined } as const;

/** A tenant with a key at its owner, and another shard that reads for it. */
async function startReading({ wallMs = Date.now, expiresAtMs }: { wallMs?: () => number; expiresAtMs?: number } = {}) {
  const { memory, slot, tenantId, handle } = await openSlot({ plans: PLANS, wallMs });
  const key = await slot.createKey(handle, tenantId, expiresAtMs);
  const metrics = createMetrics();
  metrics.onRender(() => reportShard(metrics, reportedParts(slot)));
  const clock = new VirtualClock();
  // The store has the time of the process.
  await clock.advance(performance.now());
  /** The present owner, to the reader. */
  const owner: { slot: OpenSlot; failure: ShardFailure | undefined } = { slot, failure: undefined };
  const readers = new Readers({
    store: memory,
    clock,
    metrics,
    budget: slot.budget,
    pageLimits: PAGE_LIMITS,
    readerLimits: READER_LIMITS,
    slots: 1,
    ownerOf: () => 'owner:1',
    owners: {
      async follow(_, request) {
        if (owner.failure !== undefined) throw owner.failure;
        return owner.slot.reader.shard.call('followTenant', {}, request);
      },
    },
  });
  metrics.onRender(() => readers.report());
  const peers = new Peers({
    store: memory,
    clock,
    ids,
    plans: new Map(),
    secrets: SECRETS,
    slots: 1,
    segmentSize: SEGMENT_SIZE,
    tenureOf: () => {
      throw new ShardFailure('wrong-owner', 'Another shard owns the slot.');
    },
    tenures: () => new Map(),
    members: async () => [],
    report: () => ({ incarnation: 'inc_2', shardName: 'shard-2', leaseLeftMs: undefined, rows: [] }),
    readers,
    readIndexes: noReadIndexes(),
    lookups: new Lookups(),
    deadlineMs: META.deadlineMs,
    busiest: () => undefined,
    readersOf: () => 0,
    onRefused: () => {},
  });
  const front = tenantMethods(peers.connect());
  const reader = await front.authenticateAtReader(key);
  const check = async ({ subject, relation, object }: Tuple): Promise<CheckAnswer> =>
    front.check(reader.handle, subject, relationNumber(relation) ?? 0, object);
  const shown = async (name: string): Promise<number> => {
    const line = (await metrics.render()).split('\n').find((each) => each.startsWith(`grantd_${name} `));
    return line === undefined ? 0 : Number(line.split(' ').at(-1));
  };
  const other = tenantMethods(peers.connect());
  return { slot, tenantId, handle, key, clock, owner, readers, front, other, reader, check, shown };
}

test('a reader counts what it answered, and one question of it covers every call that waits', async () => {
  const { slot, tenantId, handle, readers, front, reader, check, shown } = await startReading();
  const granted = tuple('user:a', 'doc:1');
  await slot.grant(handle, granted);
  const begun = await shown('read_index_calls_count');
  const lag = await shown('read_index_lag_entries_sum');
  const answers = await Promise.all([check(granted), check(granted), check(tuple('user:a', 'doc:2'))]);
  const authorized = answers.map((answer) => (typeof answer === 'boolean' ? answer : answer.authorized));
  assert.deepEqual(authorized, [true, true, false]);
  await front.listObjects(reader.handle, {
    subject: 'user:a',
    ...LISTING,
  });
  assert.equal(await shown('reader_calls_total{kind="check"}'), 3);
  assert.equal(await shown('reader_calls_total{kind="listing"}'), 1);
  assert.ok((await shown('read_index_lag_entries_sum')) > lag, 'the grant came with an answer');
  const questions = (await shown('read_index_calls_count')) - begun;
  assert.ok((await shown('read_index_calls_sum')) - begun >= questions + 2, 'three checks shared a question');
  assert.equal(await shown('reader_tenants'), 1);
  assert.equal(await shown('tenants_with_readers'), 1);
  assert.equal(await shown('read_indexes_total{kind="beginning"}'), 1);
  assert.equal(await shown('read_indexes_total{kind="commits"}'), await shown('read_index_calls_count'));
  const [listed, ...more] = readers.list();
  assert.deepEqual(more, []);
  assert.equal(listed?.tenantId, tenantId);
  assert.equal(listed?.position, slot.tenure.lastSeq);
  assert.deepEqual([listed?.calls, listed?.handedOver, listed?.begun], [4, 0, 1]);
});

const ENDS: Readonly<Record<string, (at: Awaited<ReturnType<typeof startReading>>) => Promise<void> | void>> = {
  'owner-unreachable': ({ owner }) => {
    owner.failure = new ShardFailure('not-serving', 'The connection was lost.');
  },
  'owner-moved': ({ owner }) => {
    owner.failure = new ShardFailure('wrong-owner', 'Another shard owns the slot.');
  },
  epoch: async ({ owner, slot }) => {
    await slot.applied();
    owner.slot = await OpenSlot.open(slot.memory, { plans: PLANS });
  },
  'commits-missing': async ({ slot, tenantId, handle }) => {
    await slot.grant(handle, tuple('user:b', 'doc:1'));
    slot.tenure.tenants.get(tenantId)?.keepCommits(slot.tenure.lastSeq).evict();
  },
};

for (const [reason, happens] of Object.entries(ENDS)) {
  test(`a reader ends by ${reason}: its calls are handed over, and the operator sees why`, async () => {
    const at = await startReading();
    const { readers, check, shown, owner, front, key } = at;
    await check(tuple('user:a', 'doc:1'));
    await happens(at);
    const waiting = [check(tuple('user:a', 'doc:1')), check(tuple('user:a', 'doc:2'))];
    for (const each of waiting) await assert.rejects(each, { kind: 'handle-unknown' });
    assert.equal(await shown(`readers_ended_total{reason="${reason}"}`), 1);
    assert.deepEqual(readers.list(), []);
    owner.failure = undefined;
    await front.authenticateAtReader(key);
    const [again] = readers.list();
    assert.deepEqual([again?.handedOver, again?.begun], [2, 2]);
  });
}

for (const skewMs of [HOUR_MS, -HOUR_MS]) {
  test(`a key ends by the owner's time at a reader whose clock is off by ${skewMs} ms`, async () => {
    const startMs = Date.UTC(2026, 0, 1);
    const endMs = startMs + HOUR_MS / 2;
    const time = { wallMs: startMs };
    const { clock, check, front, key, slot } = await startReading({
      wallMs: () => time.wallMs,
      expiresAtMs: endMs,
    });
    const setClock = () => {
      clock.wallOffsetMs = time.wallMs + skewMs - clock.monotonicMs();
    };
    const outcome = (asked: Promise<unknown>): Promise<unknown> =>
      asked.then(
        () => 'answered',
        (error) => error.code ?? error.kind,
      );
    const seen = async () => [
      await outcome(check(tuple('user:a', 'doc:1'))),
      await outcome(front.authenticateAtReader(key)),
      await outcome(slot.front.authenticate(key)),
    ];
    setClock();
    assert.deepEqual(await seen(), ['answered', 'answered', 'answered']);
    time.wallMs = endMs - 1;
    setClock();
    assert.deepEqual(await seen(), ['answered', 'answered', 'answered']);
    time.wallMs = endMs;
    setClock();
    assert.deepEqual(await seen(), ['handle-unknown', 'unauthorized', 'unauthorized']);
    // The owner's clock goes back, and its log does not.
    time.wallMs = startMs;
    setClock();
    assert.deepEqual(await seen(), ['handle-unknown', 'unauthorized', 'unauthorized']);
  });
}

test('what a front says of the time of the owner harms neither the calls of others nor its own next ones', async () => {
  const startMs = Date.UTC(2026, 0, 1);
  const laterMs = startMs + 10 * 365 * 24 * HOUR_MS;
  const endMs = startMs + HOUR_MS;
  const { check, front, key, reader, other, readers, slot, tenantId } = await startReading({
    wallMs: () => startMs,
    expiresAtMs: endMs,
  });
  const grant = { ...tuple('user:a', 'doc:1'), expiresAtMs: endMs, revoke: false };
  await slot.connection.writeGrants(await slot.handle(tenantId), slot.attempt(), [grant]);
  const forger = await other.authenticateAtReader(key);
  const ask = async (handle = reader.handle, connection = front) => {
    const single = await connection.check(handle, 'user:a', relationNumber('viewer') ?? 0, 'doc:1');
    const bulk = await connection.checkBulk(handle, columnsOf([grant]));
    const { items } = await connection.listObjects(handle, { ...LISTING, subject: 'user:a' });
    return [typeof single === 'boolean' ? single : single.authorized, ...bulk.authorized, items.length];
  };
  const holds = [true, true, 1];
  assert.deepEqual(await ask(), holds);
  const position = await slot.front.readPosition({ slot: slot.tenure.slot, tenantId });
  for (const nextBase of [position.nextBase, laterMs * 1000 + 1]) {
    other.answerAt(new Map([[tenantId, { ...position, nextBase, nowMs: laterMs }]]));
    // Its own calls of that message are refused: by then its key has ended.
    await assert.rejects(async () => other.check(forger.handle, 'user:a', 6, 'doc:1'));
    await assert.rejects(other.checkBulk(forger.handle, columnsOf([grant])));
    other.answerAt(new Map());
    assert.deepEqual(await ask(forger.handle, other), holds);
    front.answerAt(new Map([[tenantId, position]]));
    assert.deepEqual(await ask(), holds);
    front.answerAt(new Map());
    assert.deepEqual(await ask(), holds);
  }
  await check(tuple('user:a', 'doc:1'));
  assert.equal(readers.list().length, 1, 'nothing of it has ended the reader');
});

for (const skewMs of [HOUR_MS, -HOUR_MS]) {
  test(`an answer has the owner's time at a reader whose clock is off by ${skewMs} ms`, async () => {
    const nowMs = Date.UTC(2026, 0, 1);
    const { clock, check, slot, handle } = await startReading({ wallMs: () => nowMs });
    clock.wallOffsetMs = nowMs + skewMs - clock.monotonicMs();
    const [granted, denied, unknown] = [tuple('user:a', 'doc:1'), tuple('user:a', 'doc:2'), tuple('user:b', 'doc:1')];
    await slot.grant(handle, granted);
    const byOwner = (authorized: boolean) => ({ authorized, checkedAtMs: nowMs });
    const seen = async (): Promise<unknown[]> => [await check(granted), await check(denied), await check(unknown)];
    // From the store, from memory, and by rules.
    for (let time = 0; time < 2; time += 1) {
      assert.deepEqual(await seen(), [byOwner(true), byOwner(false), byOwner(false)]);
    }
    const ruleSet = parseRuleSet({ rules: [{ namespace: 'doc', name: 'can_read', any_of: ['viewer'] }] });
    await slot.connection.writeRules(handle, slot.attempt(), { rules: RulesText.of(ruleSet), ifMatch: undefined });
    for (let time = 0; time < 2; time += 1) {
      assert.deepEqual(await seen(), [byOwner(true), byOwner(false), byOwner(false)]);
    }
  });
}

test('the use of a key at a reader counts at the owner, although the owner sees none of its calls', async () => {
  const startMs = Date.UTC(2026, 0, 1);
  const time = { wallMs: startMs };
  const { clock, check, slot, handle, key, readers } = await startReading({ wallMs: () => time.wallMs });
  const lastUse = async (): Promise<number | undefined> => {
    const { items } = await slot.connection.listKeys(handle, { limit: 10, cursor: undefined });
    return items.find(({ keyId }) => keyId === key.keyId)?.lastUsedAtMs;
  };
  for (let seconds = 0; seconds < 60; seconds += 1) {
    time.wallMs += 1000;
    await check(tuple('user:a', 'doc:1'));
    await clock.advance(1000);
  }
  const late = time.wallMs - ((await lastUse()) ?? 0);
  assert.ok(late <= 12_000, `${late} ms ago`);
  // A last use before the reader ends, too.
  time.wallMs += 1000;
  await check(tuple('user:a', 'doc:1'));
  await clock.advance(40_000);
  assert.deepEqual([readers.list(), await lastUse()], [[], time.wallMs]);
  // Of a key that is gone nothing is kept.
  const memory = slot.tenure.tenants.values().next().value;
  await slot.connection.revokeKey(handle, slot.attempt(), key.keyId);
  const told = { tenantId: key.tenantId, epoch: slot.tenure.epoch, seq: slot.tenure.lastSeq, advance: false };
  await slot.reader.shard.call('followTenant', {}, { ...told, uses: [{ keyId: key.keyId, usedAtMs: startMs }] });
  await slot.connection.listKeys(handle, { limit: 10, cursor: undefined });
  assert.equal(memory?.keyUses.size, 0);
});

test('a reader in use keeps up with its owner while no call comes', async () => {
  const { clock, slot, handle, readers } = await startReading();
  for (let seconds = 0; seconds < 10; seconds += 1) {
    await slot.grant(handle, tuple('user:a', `doc:${seconds}`));
    await clock.advance(1000);
    await clock.advance(0);
    assert.equal(readers.list()[0]?.position, slot.tenure.lastSeq);
  }
});

test('a reader that no call uses ends as idle', async () => {
  const { clock, readers, shown } = await startReading();
  await clock.advance(40_000);
  assert.deepEqual(readers.list(), []);
  assert.equal(await shown('readers_ended_total{reason="idle"}'), 1);
});
