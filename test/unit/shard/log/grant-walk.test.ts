// The grants of a store that was filled by a version without counts are counted in the background: exactly, while
// writes go on, over changes of owner, and whatever late writes of former owners leave.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { columnsOf, RELATIONS, type Tuple } from '../../../../src/core/tuples.ts';
import { SeededRandom } from '../../../simulation/seeded-random.ts';
import { attempt, SLOT, soon, tuple, turns } from '../tools.ts';
import { filled, totalOf, walk } from './uncounted.ts';

const many = (subjects: number, objects = 1): Tuple[] =>
  Array.from({ length: subjects * objects }, (_, index) =>
    tuple(`user:é${Math.floor(index / objects)}`, `doc:😀${index % objects}`),
  );

test('every grant is counted once: of many subjects, of one with several pages of them, of none', async () => {
  for (const tuples of [[], many(1), [...many(1500), ...many(2, 2500), ...many(20, 300)]]) {
    const { slot, tenantId, model } = await filled(tuples);
    assert.equal(totalOf(slot, tenantId), undefined);
    await walk(slot);
    assert.deepEqual(totalOf(slot, tenantId), model.total);
    assert.deepEqual(slot.memory.grantsOnOneSide(tenantId), []);
    // The next owner knows it at once.
    const heir = await slot.restart();
    assert.deepEqual(totalOf(heir, tenantId), model.total);
    heir.kill();
  }
});

async function createWhileListing(count: number): Promise<void> {
  const listed: (() => void)[] = [];
  const { slot, tenantId, model, handle } = await filled(many(20), {
    hooks: {
      // The first reading of subjects is answered, but the answer has yet to come.
      fault: (operation, call) =>
        operation === 'listSubjects' && call <= 16
          ? { kind: 'delay-reply', until: () => new Promise((resolve) => listed.push(resolve)) }
          : undefined,
    },
  });
  const walking = walk(slot);
  await turns(20);
  assert.equal(listed.length, 16);
  const first = Array.from({ length: count }, (_, index) => tuple(`first:${index}`, 'doc:1'));
  await model.write(slot, handle, first);
  // Also where it is in the state tables before the answer comes.
  await slot.applied();
  for (const release of listed) release();
  await walking;
  assert.deepEqual(totalOf(slot, tenantId), model.total);
  slot.kill();
}

test('a subject that is given its first grant behind the position, in a stretch that was listed, is counted', () =>
  createWhileListing(200));

test('more such subjects than the walk holds at once are counted all the same', () => createWhileListing(2500));

test('a subject that is given its first grant between two that are being read is counted', async () => {
  const held: (() => void)[] = [];
  let holding = false;
  const { slot, tenantId, model, handle } = await filled(many(300), {
    hooks: {
      fault: (operation) =>
        operation === 'listGrantWrites' && holding
          ? { kind: 'delay-reply', until: () => new Promise((resolve) => held.push(resolve)) }
          : undefined,
    },
  });
  const first = Array.from({ length: 400 }, (_, index) => tuple(`user:é${index}a`, 'doc:1'));
  // In memory, so that the writes need no reading of their own.
  for (let start = 0; start < 400; start += 100) {
    await slot.connection.checkBulk(handle, columnsOf(first.slice(start, start + 100)));
  }
  const walking = walk(slot);
  // Several subjects are read at once by then.
  const memory = slot.tenure.tenants.get(tenantId);
  while ((memory?.grantCount.position?.bucket ?? 16) < 2) await turns(1);
  holding = true;
  while (held.length < 2) await turns(1);
  await model.write(slot, handle, first);
  await slot.applied();
  holding = false;
  for (const release of held) release();
  await walking;
  assert.deepEqual(totalOf(slot, tenantId), model.total);
  slot.kill();
});

test('a commit while its subject is being read counts once, before and behind the end of the page', async () => {
  for (const revoke of [false, true]) {
    const held: (() => void)[] = [];
    let holding = true;
    const subject = 'user:é0';
    const { slot, tenantId, model, handle } = await filled(many(1, 2500), {
      pageLimits: { rowsMax: 100 },
      hooks: {
        fault: (operation) =>
          operation === 'listGrantWrites' && holding
            ? { kind: 'delay-reply', until: () => new Promise((resolve) => held.push(resolve)) }
            : undefined,
      },
    });
    const objects = ['doc:!', 'doc:zzzz', 'doc:😀5', 'doc:😀2499', 'doc:😀77777'];
    holding = false;
    // Its page is in memory, so that the writes need no reading of their own.
    await slot.connection.checkBulk(handle, {
      subjects: objects.map(() => subject),
      relations: objects.map(() => 1),
      objects,
    });
    holding = true;
    const walking = walk(slot);
    while (held.length === 0) await turns(1);
    await model.write(
      slot,
      handle,
      objects.map((object) => tuple(subject, object)),
      revoke,
    );
    await slot.applied();
    holding = false;
    for (const release of held) release();
    await walking;
    assert.deepEqual(totalOf(slot, tenantId), model.total);
    slot.kill();
  }
});

test('a new owner goes on where the last one was, and a checkpoint in between costs nothing', async () => {
  const { slot, tenantId, model, handle } = await filled(many(3000));
  const walking = walk(slot);
  const memory = slot.tenure.tenants.get(tenantId);
  while ((memory?.grantCount.position?.bucket ?? 16) < 5) await turns(1);
  // Rows are written with every batch that changes the tenant, so its progress is kept.
  await model.write(slot, handle, [tuple('user:new', 'doc:1')]);
  await model.write(slot, handle, many(1000), true);
  await slot.tenure.checkpointed();
  slot.tenure.end('The test ends it.');
  await walking;
  const heir = await slot.restart();
  const position = heir.tenure.tenants.get(tenantId)?.grantCount.position;
  assert.ok(position !== undefined && position.bucket >= 5, 'it is in the midst of the work');
  await walk(heir);
  assert.deepEqual(totalOf(heir, tenantId), model.total);
  heir.kill();
});

test('progress of a former owner that is kept late is never taken for more than it was', async () => {
  const { slot, tenantId, model } = await filled(many(50));
  const rows: Parameters<typeof slot.memory.writeState>[0][] = [];
  // Its rows are on their way when it dies.
  const written = slot.memory.writeState.bind(slot.memory);
  slot.memory.writeState = async (writes) => {
    rows.push(writes);
  };
  await walk(slot);
  assert.deepEqual(totalOf(slot, tenantId), model.total);
  slot.memory.writeState = written;
  const heir = await slot.restart();
  assert.equal(totalOf(heir, tenantId), undefined);
  // The new owner has not begun to count; what it commits is behind its position, and its row says so.
  await model.write(heir, await heir.handle(tenantId), [tuple('user:new', 'doc:1')]);
  await heir.tenure.checkpointed();
  for (const writes of rows) await written(writes, soon());
  const next = await heir.restart();
  assert.equal(totalOf(next, tenantId), undefined, 'what came late is older than what the checkpoint holds');
  await walk(next);
  assert.deepEqual(totalOf(next, tenantId), model.total);
  next.kill();
});

test('whatever is written, applied and killed while it goes on, the count ends up exact', async () => {
  for (const seed of ['a', 'b', 'c']) {
    const random = new SeededRandom(seed);
    const below = (bound: number): number => random.word() % bound;
    const some = (): Tuple => {
      const subject = below(4) === 0 ? 'user:large' : `user:${below(600)}`;
      const object = `doc:${below(subject === 'user:large' ? 4000 : 8)}`;
      return { subject, relation: RELATIONS[below(RELATIONS.length)] ?? 'viewer', object };
    };
    const start = await filled(Array.from({ length: 6000 }, some), { pageLimits: { rowsMax: 500 } });
    const { tenantId, model } = start;
    let { slot, handle } = start;
    for (let epoch = 0; epoch < 4; epoch += 1) {
      let done = false;
      const walking = walk(slot).finally(() => {
        done = true;
      });
      for (let step = 0; step < 40 && (!done || epoch === 3); step += 1) {
        await model.write(slot, handle, Array.from({ length: 1 + below(30) }, some), below(3) === 0);
        const last = Array.from({ length: 3 }, (_, index) => tuple(`fresh:${epoch}.${step}.${index}`, 'doc:1'));
        if (below(2) === 0) await model.write(slot, handle, last);
        if (below(8) === 0) await slot.applied();
        await turns(below(20));
      }
      if (epoch === 3) {
        await walking;
        assert.deepEqual(totalOf(slot, tenantId), model.total, `seed ${seed}`);
      }
      if (below(2) === 0) await slot.tenure.checkpointed();
      slot.tenure.end('The test ends it.');
      await walking;
      slot = await slot.restart({ pageLimits: { rowsMax: 500 } });
      handle = await slot.handle(tenantId);
    }
    const { total } = model;
    if (totalOf(slot, tenantId) === undefined) await walk(slot);
    assert.deepEqual(totalOf(slot, tenantId), total, `seed ${seed}`);
    await slot.applied();
    assert.deepEqual(slot.memory.grantsOnOneSide(tenantId), [], `seed ${seed}`);
    slot.kill();
  }
});

test('what needs the grants by their objects is refused until all of them are there', async () => {
  const { slot, handle, model } = await filled(many(30, 3));
  const holders = () =>
    slot.connection.listHolders(handle, {
      object: 'doc:😀1',
      relation: 'viewer',
      namespace: undefined,
      limit: 100,
      cursor: undefined,
    });
  const onObject = () =>
    slot.connection.listGrants(handle, {
      of: { object: 'doc:😀1' },
      relation: undefined,
      limit: 100,
      cursor: undefined,
    });
  await model.write(slot, handle, [tuple('user:new', 'doc:😀1')]);
  await model.write(slot, handle, [tuple('user:é7', 'doc:😀1')], true);
  for (const list of [holders, onObject]) {
    await assert.rejects(async () => list(), {
      code: 'unavailable',
      message: /without indexing them by object. The index is being built/,
    });
  }
  // What is asked of subjects does not wait for it.
  assert.equal(await slot.check(handle, tuple('user:é8', 'doc:😀1')), true);
  await walk(slot);
  const expected = [...model.grants.values()].filter(({ object }) => object === 'doc:😀1');
  assert.equal(expected.length, 30);
  assert.deepEqual((await holders()).items, expected.map(({ subject }) => subject).sort());
  assert.equal((await onObject()).items.length, 30);
  slot.kill();
});

test('a tenant that leaves, or a tenure that ends, is counted no further', async () => {
  const { slot, tenantId } = await filled(many(2000));
  const walking = walk(slot);
  await turns(5);
  const change = { tenantId, name: undefined, plan: undefined, state: 'deleting', operator: 'test' } as const;
  await slot.operator.updateTenant(attempt(), change);
  await walking;
  assert.equal(totalOf(slot, tenantId), undefined);
  const rows = await slot.memory.listGrantCounts({ slot: SLOT, limit: 10 }, soon());
  assert.ok(rows.every(({ position }) => position !== undefined));
  slot.kill();
});
