// Reads of a tenant with readers: which shard answers them, how often the owner is asked how far its log is, and that
// whatever a reader does, the owner answers instead.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { GrantdError } from '../../../src/core/errors.ts';
import type { TenantSession } from '../../../src/front/front.ts';
import { systemClock } from '../../../src/roles/process/system.ts';
import { ShardFailure } from '../../../src/shard/shard.ts';
import type { ScriptedShard } from '../../kit/scripted-shard.ts';
import { contextFor, setStage, until } from './harness.ts';

const SUBJECTS = Array.from({ length: 12 }, (_, index) => `user:${index}`);
const OBJECT = 'doc:1';
/** Of these, the tenant has granted it to. */
const GRANTED = SUBJECTS.filter((_, index) => index % 3 === 0);

/** A tenant whose owner is the first of the shards, and all others are its readers. */
async function setReaders(t: TestContext, shards: number) {
  const time = { aheadMs: 0 };
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + time.aheadMs };
  const stage = await setStage(t, { shards, clock });
  const { world, tenantId } = stage;
  const [owner, ...readers] = stage.shards;
  assert.ok(owner !== undefined && readers.length > 0);
  await world.update(tenantId, { readers: readers.length });
  await world.grant(tenantId, ...GRANTED.map((subject) => `${subject} viewer ${OBJECT}`));
  const session = await stage.session();
  const check = async (subject: string): Promise<string> => {
    const context = contextFor(undefined, clock);
    const { authorized } = await session.check(context, { subject, relation: 'viewer', object: OBJECT });
    return `${subject} ${authorized}`;
  };
  const checkAll = (): Promise<string[]> => Promise.all(SUBJECTS.map(check));
  // Handles at readers are acquired beside checks, which go to the owner until then.
  await until(async () => {
    const before = owner.count('check');
    await checkAll();
    return owner.count('check') === before;
  }, 'the handles at the readers');
  return { ...stage, owner, readers, session, check, checkAll, time };
}

const EXPECTED = SUBJECTS.map((subject) => `${subject} ${GRANTED.includes(subject)}`);

/** Resolves once the check goes to the reader. */
const reach = (reader: ScriptedShard, check: () => Promise<unknown>): Promise<void> =>
  until(async () => {
    const before = reader.count('check');
    await check();
    return reader.count('check') > before;
  }, 'a handle at the reader');

const counts = (shards: readonly ScriptedShard[], name: string): number =>
  shards.reduce((sum, shard) => sum + shard.count(name), 0);

/** By the name of the shard that is asked. */
function watchSubjects(shards: readonly ScriptedShard[]): Map<string, string> {
  const asked = new Map<string, string>();
  for (const shard of shards) {
    shard.onCheck = (subject) => {
      asked.set(subject, shard.name);
      return undefined;
    };
  }
  return asked;
}

test('one question about the log serves every check of a turn, at whichever reader', async (t) => {
  const { owner, readers, checkAll } = await setReaders(t, 3);
  const [questions, checks] = [owner.count('readPosition'), counts(readers, 'check')];
  assert.deepEqual(await checkAll(), EXPECTED);
  assert.equal(owner.count('readPosition'), questions + 1);
  assert.equal(counts(readers, 'check'), checks + SUBJECTS.length);
});

test('a question that has left serves no check that comes after it', async (t) => {
  const { owner, readers, world, tenantId, check } = await setReaders(t, 2);
  const [subject = ''] = GRANTED;
  const left = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  owner.onCall = (name) => {
    if (name !== 'readPosition') return undefined;
    left.resolve();
    return gate.promise;
  };
  const [questions, checks] = [owner.count('readPosition'), counts(readers, 'check')];
  const first = check(subject);
  await left.promise;
  await world.revoke(tenantId, `${subject} viewer ${OBJECT}`);
  const later = [check(subject), check(subject)];
  gate.resolve();
  await first;
  assert.deepEqual(await Promise.all(later), [`${subject} false`, `${subject} false`]);
  assert.equal(owner.count('readPosition'), questions + 2);
  assert.equal(counts(readers, 'check'), checks + 3);
});

test('a subject stays at its reader when another reader leaves', async (t) => {
  const { owner, readers, servers, shards, checkAll } = await setReaders(t, 4);
  const before = watchSubjects(shards);
  assert.deepEqual(await checkAll(), EXPECTED);
  assert.equal(new Set(before.values()).size, readers.length);
  const [gone] = readers;
  await servers[shards.findIndex(({ name }) => name === gone?.name)]?.close();
  const after = watchSubjects(shards);
  await until(async () => {
    after.clear();
    assert.deepEqual(await checkAll(), EXPECTED);
    return ![owner.name, gone?.name].some((name) => name !== undefined && [...after.values()].includes(name));
  }, 'the readers that are left');
  for (const [subject, name] of before) if (name !== gone?.name) assert.equal(after.get(subject), name, subject);
});

test('what a reader fails goes to the owner once, all of it, and the reader is left alone for a while', async (t) => {
  const { owner, readers, checkAll } = await setReaders(t, 2);
  const [reader] = readers;
  assert.ok(reader !== undefined);
  reader.onCheck = () => Promise.reject(new ShardFailure('handle-unknown', 'The reader has ended.'));
  const before = [owner, reader].map((shard) => shard.count('check'));
  const asked = reader.count('authenticateAtReader');
  assert.deepEqual(await checkAll(), EXPECTED);
  const after = [owner, reader].map((shard, index) => shard.count('check') - (before[index] ?? 0));
  assert.deepEqual(after, [SUBJECTS.length, SUBJECTS.length]);
  assert.equal(reader.count('authenticateAtReader'), asked);
});

test('a reader that has failed is left alone for longer each time, and for short again after it did well', async (t) => {
  const { readers, check, time } = await setReaders(t, 2);
  const [[reader], [subject = '']] = [readers, GRANTED];
  assert.ok(reader !== undefined);
  const asksAfter = async (ms: number): Promise<boolean> => {
    time.aheadMs += ms;
    const before = reader.count('authenticateAtReader');
    await check(subject);
    return reader.count('authenticateAtReader') > before;
  };
  const fail = async (): Promise<void> => {
    reader.onCheck = undefined;
    await reach(reader, () => check(subject));
    reader.onCheck = () => Promise.reject(new ShardFailure('not-serving', 'The store cannot be read.'));
    await check(subject);
  };
  await fail();
  assert.equal(await asksAfter(1000), true);
  for (let times = 0; times < 5; times += 1) {
    await fail();
    time.aheadMs += 15_000;
  }
  await fail();
  assert.deepEqual([await asksAfter(1000), await asksAfter(14_000)], [false, true]);
  time.aheadMs += 30_000;
  await fail();
  assert.equal(await asksAfter(1000), true);
});

test('what a reader refuses for its own reasons goes to the owner once; what it has found out is the answer', async (t) => {
  const { owner, readers, check, time } = await setReaders(t, 2);
  const [[reader], [subject = '']] = [readers, GRANTED];
  assert.ok(reader !== undefined);
  for (const code of ['overloaded', 'unavailable', 'internal', 'unauthorized'] as const) {
    await reach(reader, () => check(subject));
    reader.onCheck = () => Promise.reject(new GrantdError(code, 'So the reader says.'));
    const atOwner: number = owner.count('check');
    const atReader: number = reader.count('check');
    assert.equal(await check(subject), `${subject} true`, code);
    assert.deepEqual([owner.count('check'), reader.count('check')], [atOwner + 1, atReader + 1], code);
    reader.onCheck = undefined;
    time.aheadMs += 15_000;
  }
  await reach(reader, () => check(subject));
  for (const code of ['evaluation-too-large', 'insufficient-scope', 'tenant-suspended'] as const) {
    reader.onCheck = () => Promise.reject(new GrantdError(code, 'So the reader says.'));
    const before = owner.count('check');
    await assert.rejects(check(subject), { code });
    assert.equal(owner.count('check'), before);
  }
});

/** A reader whose next check waits for `answer`, and the owner's for `atOwner`. */
function slow(owner: ScriptedShard, reader: ScriptedShard) {
  const [answer, atOwner, asked] = [
    Promise.withResolvers<boolean>(),
    Promise.withResolvers<boolean>(),
    Promise.withResolvers<void>(),
  ];
  reader.onCheck = () => answer.promise;
  owner.onCheck = () => {
    asked.resolve();
    return atOwner.promise;
  };
  return { answer, atOwner, asked: asked.promise };
}

test('a check that waits at a reader is asked at the owner, too, whose answer counts if it is the first', async (t) => {
  const { owner, readers, check } = await setReaders(t, 2);
  const [[reader], [subject = '']] = [readers, GRANTED];
  assert.ok(reader !== undefined);
  const { answer, atOwner, asked } = slow(owner, reader);
  const before = owner.count('check');
  const checked = check(subject);
  await asked;
  atOwner.resolve(true);
  assert.equal(await checked, `${subject} true`);
  // It comes too late, and the reader is as good as before.
  answer.resolve(false);
  reader.onCheck = undefined;
  const atReader = reader.count('check');
  assert.equal(await check(subject), `${subject} true`);
  assert.deepEqual([owner.count('check'), reader.count('check')], [before + 1, atReader + 1]);
});

test('the reader counts if its answer comes before that of the owner, and if the owner refuses', async (t) => {
  const { owner, readers, check } = await setReaders(t, 2);
  const [[reader], [subject = '']] = [readers, GRANTED];
  assert.ok(reader !== undefined);
  const first = slow(owner, reader);
  const checked = check(subject);
  await first.asked;
  first.answer.resolve(true);
  assert.equal(await checked, `${subject} true`);
  first.atOwner.resolve(false);

  const refused = slow(owner, reader);
  const again = check(subject);
  await refused.asked;
  refused.atOwner.reject(new GrantdError('overloaded', 'Too much is going on.'));
  refused.answer.resolve(true);
  assert.equal(await again, `${subject} true`);

  const failed = slow(owner, reader);
  const last = check(subject);
  await failed.asked;
  failed.atOwner.reject(new GrantdError('overloaded', 'Too much is going on.'));
  failed.answer.reject(new ShardFailure('not-serving', 'The store cannot be read.'));
  await assert.rejects(last, { code: 'overloaded' });
});

test('if all reads wait at readers, only some of them are asked at the owner', async (t) => {
  const { owner, readers, session } = await setReaders(t, 2);
  const [reader] = readers;
  assert.ok(reader !== undefined);
  const { answer, atOwner } = slow(owner, reader);
  const before = owner.count('check');
  const ask = async (): Promise<boolean> => {
    const { authorized } = await session.check(contextFor(), { subject: 'user:0', relation: 'viewer', object: OBJECT });
    return authorized;
  };
  const checks = Array.from({ length: 150 }, ask);
  await until(() => owner.count('check') === before + 100, 'a hundred checks at the owner');
  atOwner.resolve(true);
  await until(() => owner.count('check') === before + 150, 'the others');
  answer.resolve(true);
  assert.ok((await Promise.all(checks)).every(Boolean));
});

test('a position that the owner does not tell costs a check nothing: the owner answers it', async (t) => {
  const { owner, checkAll } = await setReaders(t, 2);
  for (const failure of [
    new ShardFailure('handle-unknown', 'The tenant has no readers.'),
    new GrantdError('overloaded', 'Too much is going on.'),
  ]) {
    owner.onCall = (name) => {
      if (name === 'readPosition') throw failure;
    };
    const before = owner.count('check');
    assert.deepEqual(await checkAll(), EXPECTED);
    assert.equal(owner.count('check'), before + SUBJECTS.length);
  }
});

test('a position serves the try that follows it, and no later one', async (t) => {
  const { owner, readers, check } = await setReaders(t, 2);
  const [[reader], [subject = '', other = '']] = [readers, GRANTED];
  assert.ok(reader !== undefined);
  const [atReader, failsAtReader] = [Promise.withResolvers<void>(), Promise.withResolvers<boolean>()];
  reader.onCheck = () => {
    atReader.resolve();
    return failsAtReader.promise;
  };
  const failing = check(other);
  await atReader.promise;
  const [asked, told] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  owner.onCall = (name) => {
    if (name !== 'readPosition') return undefined;
    asked.resolve();
    return told.promise;
  };
  const checked = check(subject);
  await asked.promise;
  failsAtReader.reject(new ShardFailure('handle-unknown', 'The reader has ended.'));
  await failing;
  // The front leaves the reader alone now, so the check goes to the owner in spite of the position.
  const [atOwner, failsAtOwner] = [Promise.withResolvers<void>(), Promise.withResolvers<boolean>()];
  owner.onCheck = () => {
    atOwner.resolve();
    return failsAtOwner.promise;
  };
  told.resolve();
  await atOwner.promise;
  for (const shard of [owner, reader]) shard.onCheck = undefined;
  await reach(reader, () => check(other));
  const before = [owner.count('readPosition'), reader.count('check')];
  failsAtOwner.reject(new ShardFailure('handle-unknown', 'The handle has ended.'));
  assert.equal(await checked, `${subject} true`);
  const after = [owner.count('readPosition'), reader.count('check')];
  assert.deepEqual(
    after,
    before.map((count) => count + 1),
  );
});

test('a tenant that has no readers any more is answered by its owner alone, without an error', async (t) => {
  const { owner, readers, world, tenantId, checkAll, session } = await setReaders(t, 3);
  const running = checkUntilStopped(session);
  await world.update(tenantId, { readers: 0 });
  await checkAll();
  const before = [counts(readers, 'check'), owner.count('readPosition')];
  assert.deepEqual(await checkAll(), EXPECTED);
  assert.deepEqual([counts(readers, 'check'), owner.count('readPosition')], before);
  await running.stop();
});

test('a front follows the number of readers that the owner tells with a position', async (t) => {
  const { owner, readers, checkAll } = await setReaders(t, 4);
  const told = { readers: readers.length };
  owner.answers.readPosition = async (request, real) => ({ ...(await real(request)), ...told });
  const asked = async (): Promise<number> => {
    const before = readers.map((reader) => reader.count('check'));
    assert.deepEqual(await checkAll(), EXPECTED);
    return readers.filter((reader, index) => reader.count('check') > (before[index] ?? 0)).length;
  };
  assert.equal(await asked(), 3);
  for (const count of [1, 3, 2]) {
    told.readers = count;
    await until(async () => (await asked()) === count, `${count} readers`);
  }
  told.readers = 0;
  await until(async () => (await asked()) === 0, 'the owner alone');
  const before = owner.count('readPosition');
  await checkAll();
  assert.equal(owner.count('readPosition'), before);
});

/** One check after the other, of which none may fail. */
function checkUntilStopped(session: TenantSession): { stop(): Promise<void> } {
  let stopped = false;
  const [subject = ''] = GRANTED;
  const run = async (): Promise<void> => {
    while (!stopped) {
      const { authorized } = await session.check(contextFor(), { subject, relation: 'viewer', object: OBJECT });
      assert.equal(authorized, true);
    }
  };
  const running = run();
  return {
    stop() {
      stopped = true;
      return running;
    },
  };
}
