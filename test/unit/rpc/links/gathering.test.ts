// When checks leave a link: order and bounds on virtual time.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Gathering, MessageSpacing } from '../../../../src/rpc/links/gathering.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';

/** A link that sends what has gathered in the turn in which it may. */
function setUp() {
  const clock = new VirtualClock();
  const spacing = new MessageSpacing(clock);
  const sent: { readonly atMs: number; readonly checks: number }[] = [];
  let gathered = 0;
  const send = (): void => {
    gathering.sent(gathered);
    sent.push({ atMs: clock.monotonicMs(), checks: gathered });
    gathered = 0;
  };
  const gathering = new Gathering(clock, spacing, send);
  const startMs = clock.monotonicMs();
  return {
    clock,
    spacing,
    gathering,
    sent,
    messages: () => sent.map(({ atMs, checks }) => [atMs - startMs, checks]),
    gathered: () => gathered,
    check(count = 1): void {
      for (let each = 0; each < count; each += 1) {
        const waits = gathering.waits(gathered);
        gathered += 1;
        if (!waits) send();
      }
    },
    answer(): void {
      if (gathering.answered(gathered)) send();
    },
    /** A call, which takes along what waits. */
    send,
    async busy(share: number, ms: number): Promise<void> {
      for (let each = 0; each < ms; each += 1) {
        await clock.advance(1);
        clock.busyMs += share;
      }
    },
  };
}

/** Until the spacing is that of a busy loop. */
async function space(world: ReturnType<typeof setUp>, share: number): Promise<number> {
  for (let window = 0; window < 50; window += 1) {
    await world.busy(share, 100);
    world.spacing.spacingMs(world.clock.monotonicMs());
  }
  return world.spacing.spacingMs(world.clock.monotonicMs());
}

describe('checks of a link', () => {
  it('leave at once after a rest, and otherwise with the answer to the last message', async () => {
    const { clock, check, answer, messages, gathered } = setUp();
    check();
    check(4);
    assert.equal(gathered(), 4);
    await clock.advance(0.5);
    answer();
    assert.deepEqual(messages(), [
      [0, 1],
      [0.5, 4],
    ]);
    answer();
    assert.equal(clock.timers, 0);
    await clock.advance(10);
    check();
    assert.deepEqual(messages().at(-1), [10.5, 1]);
  });

  it('wait for 1 ms at most for a shard that does not answer', async () => {
    const { clock, check, messages } = setUp();
    check(3);
    await clock.advance(0.7);
    check(2);
    await clock.advance(5);
    assert.deepEqual(messages(), [
      [0, 1],
      [1, 4],
    ]);
  });

  it('leave without an answer once many have gathered', () => {
    const { check, messages } = setUp();
    check(1 + 33 + 5);
    assert.deepEqual(messages(), [
      [0, 1],
      [0, 33],
    ]);
  });

  it('leave with what has to leave, and do not wait for an answer that came before', async () => {
    const { clock, check, send, answer, messages, gathered } = setUp();
    check(3);
    send();
    assert.equal(gathered(), 0);
    check(2);
    await clock.advance(0.75);
    assert.equal(messages().length, 2);
    answer();
    assert.deepEqual(messages().at(-1), [0.75, 2]);
  });

  it('are given up with the connection, and nothing of it delays those of the next', async () => {
    const { clock, gathering, check, messages } = setUp();
    check(2);
    gathering.clear();
    assert.equal(clock.timers, 0);
    await clock.advance(0.1);
    assert.equal(gathering.waits(0), false);
    assert.equal(messages().length, 1);
  });

  it('leave as they come while the loop is busy for less than a third', async () => {
    const world = setUp();
    assert.equal(await space(world, 0.3), 0);
    const before = world.sent.length;
    for (let each = 0; each < 10; each += 1) {
      world.check();
      world.answer();
      await world.clock.advance(0.2);
    }
    assert.equal(world.sent.length - before, 10);
  });

  it('leave 1.5 ms apart while it is busy, answered or not', async () => {
    const world = setUp();
    const { clock, check, answer, sent } = world;
    assert.equal(await space(world, 0.9), 1.5);
    for (const answers of [true, false]) {
      const before = sent.length;
      for (let each = 0; each < 400; each += 1) {
        await clock.advance(0.5);
        clock.busyMs += 0.45;
        check();
        if (answers) answer();
        const { atMs } = sent.at(-1) ?? assert.fail();
        assert.ok(clock.monotonicMs() - atMs <= 1.5, 'a check waits for longer');
      }
      assert.ok(sent.length - before <= 200, `${sent.length - before} messages`);
    }
  });

  it('do not wait once as many have asked as ever ask at once', async () => {
    const world = setUp();
    const { clock, check, answer, sent } = world;
    await space(world, 0.9);
    const before = sent.length;
    let answered = before;
    // Sixteen clients, each of which asks again once it has its answer.
    let asking = 16;
    for (let step = 0; step < 64; step += 1) {
      check(asking);
      await clock.advance(0.1);
      asking = 0;
      if (sent.length === answered) continue;
      answered = sent.length;
      asking = sent.at(-1)?.checks ?? assert.fail();
      answer();
    }
    const counts = sent.slice(before + 2).map(({ checks }) => checks);
    assert.deepEqual(counts, Array(counts.length).fill(16));
    // One of sixteen waits, in case there are more clients.
    assert.ok(counts.length >= 30, `${counts.length} messages`);
  });

  it('settle the spacing where it keeps the loop busy for a third', async () => {
    const world = setUp();
    let spacingMs = 0;
    for (let window = 0; window < 100; window += 1) {
      await world.busy(0.6 - 0.2 * spacingMs, 100);
      spacingMs = world.spacing.spacingMs(world.clock.monotonicMs());
    }
    assert.ok(Math.abs(spacingMs - 4 / 3) < 0.05, `${spacingMs} ms`);
    await world.clock.advance(10_000);
    assert.equal(world.spacing.spacingMs(world.clock.monotonicMs()), 0);
  });
});
