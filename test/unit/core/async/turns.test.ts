// Fair turns: who is served when, on a clock that only work moves.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Clock, Timer } from '../../../../src/core/async/clock.ts';
import { FairTurns, type Step, turnOf } from '../../../../src/core/async/turns.ts';

/** Time passes only in the work that is done; immediates run one turn after the other. */
class WorkClock implements Clock {
  nowMs = 0;
  restedMs = 0;
  #immediates: (() => void)[] = [];

  monotonicMs(): number {
    return this.nowMs;
  }

  wallMs(): number {
    return this.nowMs;
  }

  /** It rests where a test says so. */
  idleMs(): number {
    return this.restedMs;
  }

  setTimer(): Timer {
    throw new Error('No timer is needed.');
  }

  setImmediate(run: () => void): void {
    this.#immediates.push(run);
  }

  /** One turn of the event loop; false: nothing was to be done in it. */
  turn(): boolean {
    const due = this.#immediates;
    this.#immediates = [];
    for (const run of due) run();
    return due.length > 0;
  }

  turns(): number {
    let count = 0;
    while (this.turn()) count += 1;
    return count;
  }
}

function setUp() {
  const clock = new WorkClock();
  const turns = new FairTurns(clock);
  const done: string[] = [];
  const work =
    (name: string, costMs: number): Step =>
    () => {
      clock.nowMs += costMs;
      done.push(name);
      return false;
    };
  /** Until the turn is used up, and those keys have been served in it all the same: what comes behind it waits. */
  const fillTurn = (...keys: readonly string[]): void => {
    turns.run('filler', work('filler', 10));
    for (const key of keys) turns.run(key, () => false);
  };
  return { clock, turns, done, work, fillTurn };
}

const countOf = (done: readonly string[], name: string): number => done.filter((each) => each === name).length;

describe('fair turns', () => {
  it('run work at once while nobody waits and the turn has time left', () => {
    const { clock, turns, done, work } = setUp();
    turns.run('a', work('a', 0.5));
    turns.run('b', work('b', 0.5));
    assert.deepEqual(done, ['a', 'b']);
    assert.equal(turns.waiting, 0);
    assert.ok(turns.idle(clock.nowMs));
  });

  it('keep work for later once the turn is used up, and are idle again in the next turn', () => {
    const { clock, turns, done, work, fillTurn } = setUp();
    fillTurn('a');
    assert.ok(!turns.idle(clock.nowMs));
    turns.run('a', work('a', 1));
    assert.deepEqual(done, ['filler']);
    assert.equal(turns.waiting, 1);
    clock.turns();
    assert.deepEqual(done, ['filler', 'a']);
    assert.ok(turns.idle(clock.nowMs));
  });

  it('need no end of a turn with one piece of work, since the event loop has rested before the next', () => {
    const { clock, turns, done, work } = setUp();
    for (const name of ['a', 'b', 'c']) {
      turns.run(name, work(name, 10));
      clock.restedMs += 1;
    }
    assert.deepEqual(done, ['a', 'b', 'c']);
    assert.ok(!clock.turn());
  });

  it('end a turn of more than that, and one whose work goes on', () => {
    const { clock, turns, done, work } = setUp();
    turns.run('a', work('a', 1));
    turns.run('b', work('b', 9));
    turns.run('b', work('c', 1));
    turns.run('b', work('d', 1));
    assert.deepEqual(done, ['a', 'b', 'c']);
    assert.ok(clock.turn());
    assert.deepEqual(done, ['a', 'b', 'c', 'd']);
    clock.turns();
    clock.restedMs += 1;
    let left = 3;
    turns.run('e', () => {
      left -= 1;
      return left > 0;
    });
    clock.turns();
    assert.equal(left, 0);
  });

  it('give a key that has much waiting no more time than each other', () => {
    const { clock, turns, done, work, fillTurn } = setUp();
    fillTurn('greedy', 'modest');
    for (let index = 0; index < 1000; index += 1) turns.run('greedy', work('greedy', 0.5));
    for (let index = 0; index < 20; index += 1) turns.run('modest', work('modest', 0.5));
    while (countOf(done, 'modest') < 20) assert.ok(clock.turn());
    assert.ok(countOf(done, 'greedy') <= 25, `${countOf(done, 'greedy')} of the greedy key went before`);
    clock.turns();
    assert.equal(countOf(done, 'greedy'), 1000);
  });

  it('count the time that work takes, not how much work there is', () => {
    const { clock, turns, done, work, fillTurn } = setUp();
    fillTurn('dear', 'cheap');
    for (let index = 0; index < 100; index += 1) turns.run('dear', work('dear', 5));
    for (let index = 0; index < 100; index += 1) turns.run('cheap', work('cheap', 0.5));
    while (countOf(done, 'cheap') < 100) assert.ok(clock.turn());
    assert.ok(countOf(done, 'dear') <= 12, `${countOf(done, 'dear')} dear ones went before, of 5 ms each`);
  });

  it('let a key that was idle go before all that always have work', () => {
    const { clock, turns, done, work, fillTurn } = setUp();
    fillTurn('sparse', ...Array.from({ length: 50 }, (_, key) => `busy ${key}`));
    for (let key = 0; key < 50; key += 1) {
      for (let index = 0; index < 20; index += 1) turns.run(`busy ${key}`, work('busy', 1));
    }
    // All of them have had a quantum and are known to be busy.
    while (countOf(done, 'busy') < 60) clock.turn();
    for (let round = 0; round < 10; round += 1) {
      const before = countOf(done, 'busy');
      turns.run('sparse', work('sparse', 0.1));
      while (countOf(done, 'sparse') <= round) clock.turn();
      const waited = countOf(done, 'busy') - before;
      assert.ok(waited <= 5, `${waited} steps of others went before`);
      // It asks again a while later, as one does who has little to ask.
      while (countOf(done, 'busy') < before + 60) clock.turn();
    }
  });

  it('do not let a key that asks again at once go before the others every time', () => {
    const { clock, turns, done, work, fillTurn } = setUp();
    fillTurn('busy', 'again');
    for (let index = 0; index < 200; index += 1) turns.run('busy', work('busy', 1));
    const again: Step = () => {
      clock.nowMs += 1;
      done.push('again');
      if (countOf(done, 'again') < 100) turns.run('again', again);
      return false;
    };
    turns.run('again', again);
    while (countOf(done, 'again') < 100) assert.ok(clock.turn());
    assert.ok(countOf(done, 'busy') >= 45, `${countOf(done, 'busy')} of the other were served meanwhile`);
  });

  it('serve sockets and timers in between', () => {
    const { clock, turns, work, fillTurn } = setUp();
    fillTurn('a');
    for (let index = 0; index < 100; index += 1) turns.run('a', work('a', 1));
    const count = clock.turns();
    assert.ok(count >= 25, `100 ms of work were done in ${count} turns`);
  });

  it('end a turn although the clock stands still', () => {
    const { clock, turns, fillTurn } = setUp();
    fillTurn('endless');
    let steps = 0;
    turns.run('endless', () => {
      steps += 1;
      return true;
    });
    assert.ok(clock.turn());
    assert.ok(steps > 0);
    const before = steps;
    assert.ok(clock.turn());
    assert.ok(steps > before);
  });

  it('go on with work of several steps in turns with others, the steps of one key in order', () => {
    const { clock, turns, done, work, fillTurn } = setUp();
    fillTurn('long', 'other');
    let left = 5;
    turns.run('long', () => {
      clock.nowMs += 2;
      done.push('long');
      left -= 1;
      return left > 0;
    });
    turns.run('long', work('behind', 0.1));
    turns.run('other', work('other', 0.1));
    clock.turns();
    assert.deepEqual(done, ['filler', 'long', 'other', 'long', 'long', 'long', 'long', 'behind']);
  });

  it('go on after work that throws', () => {
    const { clock, turns, done, work, fillTurn } = setUp();
    fillTurn('a', 'b');
    turns.run('a', () => {
      throw new Error('broken');
    });
    turns.run('a', work('behind', 0.1));
    turns.run('b', work('other', 0.1));
    assert.throws(() => clock.turn(), /broken/);
    clock.turns();
    assert.deepEqual(done.toSorted(), ['behind', 'filler', 'other']);
    assert.equal(turns.waiting, 0);
  });

  it('hold on to nothing that has been done', () => {
    const { clock, turns, done, work, fillTurn } = setUp();
    fillTurn('a');
    for (let index = 0; index < 5000; index += 1) turns.run('a', work(String(index), 0.1));
    clock.turns();
    assert.deepEqual(
      done.slice(1),
      Array.from({ length: 5000 }, (_, index) => String(index)),
    );
    assert.equal(turns.waiting, 0);
  });

  it('count what a step says that it begins, where less is measured', () => {
    const { clock, turns, done, work } = setUp();
    turns.run('a', work('a', 0.1), 10);
    // Once although the turn has no time left.
    for (let index = 0; index < 10; index += 1) turns.run('a', work('a', 0.1), 1);
    assert.equal(done.length, 2);
    clock.turn();
    assert.equal(done.length, 5);
    clock.turns();
    assert.equal(done.length, 11);
  });

  it('count what a step says as time of its key, too', () => {
    const { clock, turns, done, work, fillTurn } = setUp();
    fillTurn('dear', 'cheap');
    for (let index = 0; index < 100; index += 1) turns.run('dear', work('dear', 0.1), 5);
    for (let index = 0; index < 100; index += 1) turns.run('cheap', work('cheap', 0.5), 0.1);
    while (countOf(done, 'cheap') < 100) assert.ok(clock.turn());
    assert.ok(countOf(done, 'dear') <= 12, `${countOf(done, 'dear')} dear ones went before`);
  });

  it('know for whom work had to wait, and nobody while there is time', () => {
    const clock = new WorkClock();
    const turns = new FairTurns(clock);
    const work = (key: string, ms: number): void =>
      turns.run(key, () => {
        clock.nowMs += ms;
        return false;
      });
    work('calm', 1);
    clock.turns();
    assert.deepEqual([...turns.crowding.shares(clock.nowMs)], []);
    work('calm', 4);
    for (let count = 0; count < 100; count += 1) work('large', 1);
    for (let count = 0; count < 2; count += 1) work('small', 1);
    clock.turns();
    const shares = turns.crowding.shares(clock.nowMs);
    assert.deepEqual([...shares.keys()].sort(), ['large', 'small']);
    // The first one of each runs in the overtime of the turn.
    assert.ok((shares.get('large') ?? 0) >= 0.0095, String(shares.get('large')));
  });

  it('resolve promises in their turns', async () => {
    const { clock, turns } = setUp();
    const resolved: number[] = [];
    const waiting = [1, 2, 3, 4].map(async (number) => {
      await turnOf(turns, 'a', 1.5);
      resolved.push(number);
    });
    await Promise.resolve();
    assert.deepEqual(resolved, [1, 2, 3]);
    clock.turns();
    await Promise.all(waiting);
    assert.deepEqual(resolved, [1, 2, 3, 4]);
  });

  it('send at the end of a turn, once, what its work has gathered', () => {
    const { clock, turns, done, work, fillTurn } = setUp();
    fillTurn('a', 'b');
    turns.run('a', () => {
      work('a', 0.1)();
      turns.atEnd(() => done.push('sent'));
      return false;
    });
    turns.run('b', work('b', 0.1));
    assert.ok(clock.turn());
    assert.deepEqual(done, ['filler', 'a', 'b', 'sent']);
    clock.turns();
    assert.deepEqual(done, ['filler', 'a', 'b', 'sent']);
  });

  it('serve each key once in a turn that has no time left, and send what comes of it', async () => {
    const { clock, turns, done, work } = setUp();
    turns.run('greedy', work('greedy', 10));
    for (let index = 0; index < 100; index += 1) turns.run('greedy', work('greedy', 1));
    assert.equal(countOf(done, 'greedy'), 2);
    turns.run('other', () => {
      turns.atEnd(() => done.push('sent'));
      return false;
    });
    turns.run('other', work('other', 1));
    assert.equal(countOf(done, 'other'), 0);
    await Promise.resolve();
    assert.equal(done.at(-1), 'sent', 'before the turn has ended');
    clock.turns();
    assert.equal(countOf(done, 'greedy'), 101);
    assert.equal(countOf(done, 'sent'), 1);
  });
});
