// What writes hold in memory stays within its bounds: the next ones wait, and what is read back at a start waits as
// well.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timeOfId } from '../../../../src/core/ids.ts';
import type { TailEntry } from '../../../../src/shard/log/entries.ts';
import { LogUnreadableError } from '../../../../src/shard/log/entries.ts';
import { OperationMemory } from '../../../../src/shard/log/idempotency/cache.ts';
import { rebuildWithin } from '../../../../src/shard/log/idempotency/rebuild.ts';
import { RebuildQueue } from '../../../../src/shard/memory/rebuild-queue.ts';
import { WriteMemory } from '../../../../src/shard/memory/write-memory.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';
import { ids, settled, turns } from '../tools.ts';

const KEEP_MS = 20_000;
const MEBIBYTE = 1024 * 1024;

test('a kind is full for all its holders, released memory restores capacity, and a closed holder never waits', async () => {
  let sum = 0;
  const writes = new WriteMemory(64 * MEBIBYTE, (bytes) => {
    sum += bytes;
  });
  const [first, second] = [writes.hold('backlog'), writes.hold('backlog')];
  const { bytesMax } = writes.state('backlog');
  first.add(bytesMax - 1);
  assert.ok(first.hasCapacity && second.hasCapacity);
  second.add(1);
  assert.ok(!first.hasCapacity && !second.hasCapacity);
  assert.ok(writes.hold('operations').hasCapacity, 'another kind has its own bound');
  const waitForCapacity = second.waitForCapacity();
  assert.equal(await settled(waitForCapacity), false);
  assert.equal(writes.state('backlog').waiting, 1);
  first.add(-10);
  await waitForCapacity;
  first.add(10);
  const closing = second.waitForCapacity();
  second.close();
  await closing;
  second.add(100);
  assert.equal(writes.state('backlog').bytes, bytesMax - 1);
  assert.equal(sum, bytesMax - 1);
});

test('one slot has half of the memory of operation ids, so that it does not keep others from writing', () => {
  const writes = new WriteMemory(64 * MEBIBYTE, () => {});
  const [greedy, other] = [writes.hold('operations'), writes.hold('operations')];
  greedy.add(writes.state('operations').bytesMax / 2);
  assert.ok(!greedy.hasCapacity && other.hasCapacity);
});

test('of the slots that read back, the first few begin, and another one as each ends or leaves', async () => {
  const order = new RebuildQueue(8 * MEBIBYTE);
  const places = Array.from({ length: 4 }, () => order.enter());
  const begun: number[] = [];
  const turnsOf = places.map((place, index) => place.turn({ first: false }).then(() => begun.push(index)));
  await turns(2);
  assert.deepEqual(begun, [0, 1]);
  const first = places[1]?.turn({ first: true });
  assert.equal(await settled(first ?? Promise.resolve()), false);
  places[3]?.leave();
  await turns(2);
  assert.deepEqual(begun, [0, 1, 3], 'who has left waits no longer');
  places[0]?.leave();
  await Promise.all([...turnsOf, first]);
  assert.ok(places[1]?.isFirst);
});

/** An entry with `lines` lines of one import. */
function entryOf(lines: number): TailEntry {
  const requestId = ids.create('req');
  const operations = Array.from({ length: lines }, (_, index) => {
    const grantId = ids.create('grt');
    const grant = {
      subject: 'user:a',
      relation: 'viewer' as const,
      object: 'doc:1',
      grantId,
      createdAtMs: timeOfId(grantId) ?? 0,
    };
    return { requestId, index, changes: [{ kind: 'grant-created' as const, grant, newSubject: false }] };
  });
  return { base: 1, elapsedMs: 0, operations };
}

interface Rebuilding {
  readonly memory: OperationMemory;
  readonly entries: readonly TailEntry[];
  readonly done: Promise<void>;
  ended: boolean;
  finished: boolean;
  reads: number;
  waits: number;
}

class Bench {
  readonly clock = new VirtualClock();
  readonly writes: WriteMemory;
  bytesHighest = 0;

  constructor(budgetBytes: number) {
    this.writes = new WriteMemory(budgetBytes, () => {
      this.bytesHighest = Math.max(this.bytesHighest, this.heldBytes);
    });
  }

  get heldBytes(): number {
    return this.writes?.state('operations').bytes ?? 0;
  }

  /** A slot that reads the entries back, one at a time. */
  restore(entries: readonly TailEntry[], fail?: (reads: number) => Error | undefined): Rebuilding {
    const { clock, writes } = this;
    const held = writes.hold('operations');
    const memory = new OperationMemory(clock, KEEP_MS, held);
    const rebuilding: Rebuilding = {
      memory,
      entries,
      ended: false,
      finished: false,
      reads: 0,
      waits: 0,
      done: Promise.resolve().then(() =>
        rebuildWithin(
          {
            clock,
            operations: memory,
            held,
            order: writes.rebuilds,
            openedAtMs: clock.monotonicMs(),
            keepMs: KEEP_MS,
            ended: () => rebuilding.ended,
            onWait: () => {
              rebuilding.waits += 1;
            },
          },
          async ({ restore, waitForCapacity, over }) => {
            const keeps: (() => void)[] = [];
            for (const entry of entries) {
              if (over()) break;
              await waitForCapacity();
              await turns(1);
              rebuilding.reads += 1;
              const error = fail?.(rebuilding.reads);
              if (error !== undefined) throw error;
              keeps.push(restore(entry, 1));
            }
            for (const keep of keeps) keep();
          },
        ),
      ),
    };
    void rebuilding.done.then(
      () => {
        rebuilding.finished = true;
      },
      () => {},
    );
    return rebuilding;
  }
}

const knows = ({ memory, entries }: Rebuilding): boolean =>
  entries.every(({ operations }) =>
    operations.every(({ requestId, index }) => memory.restore(requestId, index) !== undefined),
  );

/** 60,000 lines: some 1 MiB. */
const tail = (): readonly TailEntry[] => Array.from({ length: 60 }, () => entryOf(1000));
const settle = (): Promise<void> => turns(2000);

test('many slots that read back at once stay within the memory of operation ids, and all that fit know theirs', async () => {
  // 4 MiB.
  const bench = new Bench(1);
  const { bytesMax } = bench.writes.state('operations');
  const rebuilds = Array.from({ length: 8 }, () => bench.restore(tail()));
  await settle();
  const finished = rebuilds.filter((each) => each.finished);
  assert.ok(finished.length >= 2 && finished.length < 8, `${finished.length} of 8 fit`);
  for (const each of finished) assert.ok(knows(each));
  // What one read brings may come on top for each slot that reads at a time, here one.
  assert.ok(bench.bytesHighest <= bytesMax + 2 * MEBIBYTE, `${bench.bytesHighest} bytes`);
  assert.ok(
    rebuilds.some(({ waits }) => waits > 0),
    'the wait of writes is reported',
  );
  // From then on nothing can be repeated, so the others continue without it.
  await bench.clock.advance(KEEP_MS);
  await Promise.all(rebuilds.map(({ done }) => done));
  await bench.clock.advance(2 * KEEP_MS);
  assert.equal(bench.heldBytes, 0);
  assert.equal(bench.clock.timers, 0);
});

test('slots that read at once and lack capacity yield to the first of them, and continue after it', async () => {
  // 16 MiB: several read at once.
  const bench = new Bench(86 * MEBIBYTE);
  const { bytesMax } = bench.writes.state('operations');
  const ballast = bench.writes.hold('operations');
  ballast.add(bytesMax - 4 * MEBIBYTE - MEBIBYTE / 2);
  const rebuilds = Array.from({ length: 3 }, () => bench.restore(tail()));
  await settle();
  assert.ok(
    rebuilds.every(({ finished }) => finished),
    `${rebuilds.map(({ reads }) => reads)} reads`,
  );
  assert.ok(rebuilds.every(knows));
  assert.ok(
    rebuilds.some(({ reads }) => reads > 60),
    'one of them began again',
  );
});

test('a tail that never fits ends with the window, and one whose tenure has ended or whose log is bad at once', async () => {
  const bench = new Bench(1);
  const ballast = bench.writes.hold('operations');
  ballast.add(bench.writes.state('operations').bytesMax);
  const waiting = bench.restore(tail());
  await settle();
  assert.deepEqual([waiting.finished, waiting.reads], [false, 0]);
  await bench.clock.advance(KEEP_MS - 1);
  assert.equal(waiting.finished, false);
  await bench.clock.advance(1);
  await waiting.done;
  ballast.close();
  const broken = bench.restore(tail(), (reads) => (reads === 3 ? new LogUnreadableError('a gap') : undefined));
  await assert.rejects(broken.done, LogUnreadableError);
  const failing = bench.restore(tail(), (reads) => (reads === 3 ? new Error('a timeout') : undefined));
  await settle();
  await bench.clock.advance(1000);
  await settle();
  assert.ok(failing.finished && knows(failing));
  const ended = bench.restore(tail());
  ended.ended = true;
  await ended.done;
  assert.equal(ended.reads, 0);
});
