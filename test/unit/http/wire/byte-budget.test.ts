// Bytes that requests hold: who gets them at once, who waits, who is refused, and who has to give them back.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Crowding, type Turns } from '../../../../src/core/async/turns.ts';
import { ByteBudget, type Reservation } from '../../../../src/http/wire/byte-budget.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';

const WAIT_MS = 100;

/** Everything at once: what comes in turns is tested elsewhere. */
const atOnce: Turns = {
  waiting: 0,
  crowding: new Crowding(),
  idle: () => true,
  hasTime: () => true,
  atEnd: (send) => send(),
  run(_key, step) {
    while (step()) {
      // There is more.
    }
  },
};

function createBudget(bytesMax = 100, holderBytesMax = 40, turns = atOnce) {
  const clock = new VirtualClock();
  const events = { waited: 0, refused: 0, dropped: 0 };
  const meter = {
    waited() {
      events.waited += 1;
    },
    refused() {
      events.refused += 1;
    },
    dropped() {
      events.dropped += 1;
    },
  };
  const budget = new ByteBudget({ clock, turns, meter }, { bytesMax, holderBytesMax, waitMs: WAIT_MS });
  const granted: { readonly what: string; readonly reservation: Reservation }[] = [];
  const refused: string[] = [];
  const reservation = (holder: string, bytes: number, what = `${holder} ${bytes}`): (() => void) =>
    budget.reserve(
      holder,
      bytes,
      (given) => granted.push({ what, reservation: given }),
      ({ code }) => refused.push(`${what}: ${code}`),
    );
  const release = (what: string): void => granted.find((each) => each.what === what)?.reservation.release();
  return {
    clock,
    events,
    budget,
    granted,
    refused,
    reservation,
    release,
    names: () => granted.map(({ what }) => what),
  };
}

describe('a reservation', () => {
  it('is granted at once within both bounds', () => {
    const { reservation, names, budget, events } = createBudget();
    reservation('a', 40);
    reservation('b', 40);
    reservation('c', 20);
    assert.deepEqual(names(), ['a 40', 'b 40', 'c 20']);
    assert.equal(budget.heldBytes, 100);
    assert.equal(events.waited, 0);
  });

  it('beyond the share of its holder waits for that holder alone, and is granted in order', () => {
    const { reservation, names, release, budget } = createBudget();
    reservation('a', 30);
    reservation('a', 20);
    // It would fit, and does not overtake.
    reservation('a', 5);
    reservation('b', 40);
    assert.deepEqual(names(), ['a 30', 'b 40']);
    release('b 40');
    assert.deepEqual(names(), ['a 30', 'b 40']);
    release('a 30');
    assert.deepEqual(names(), ['a 30', 'b 40', 'a 20', 'a 5']);
    assert.equal(budget.heldBytes, 25);
  });

  it('that waits too long is refused as overloaded, and those behind it go on waiting', async () => {
    const { reservation, names, refused, release, clock, events } = createBudget();
    reservation('a', 40);
    reservation('a', 30);
    await clock.advance(WAIT_MS - 1);
    reservation('a', 20);
    await clock.advance(1);
    assert.deepEqual(refused, ['a 30: overloaded']);
    release('a 40');
    assert.deepEqual(names(), ['a 40', 'a 20']);
    await clock.advance(WAIT_MS);
    assert.deepEqual(refused, ['a 30: overloaded']);
    assert.deepEqual(events, { waited: 2, refused: 1, dropped: 0 });
    assert.equal(clock.timers, 0);
  });

  it('is granted and refused in turns of its holder, and neither once it was given up', async () => {
    const steps: { readonly key: string; readonly step: () => boolean }[] = [];
    const held: Turns = { ...atOnce, run: (key, step) => steps.push({ key, step }) };
    const { clock, reservation, names, refused, release } = createBudget(100, 40, held);
    reservation('a', 40, 'first');
    reservation('a', 30, 'second');
    reservation('b', 40);
    reservation('b', 20, 'third');
    const giveUp = reservation('b', 20, 'given up');
    release('first');
    await clock.advance(WAIT_MS);
    assert.deepEqual([names(), refused], [['first', 'b 40'], []]);
    giveUp();
    assert.deepEqual(
      steps.map(({ key, step }) => [key, step()]),
      [
        ['a', false],
        ['b', false],
        ['b', false],
      ],
    );
    assert.deepEqual([names(), refused], [['first', 'b 40', 'second'], ['third: overloaded']]);
  });

  it('that is given up is neither granted nor refused', async () => {
    const { reservation, names, refused, release, clock } = createBudget();
    reservation('a', 40);
    const giveUp = reservation('a', 30);
    reservation('a', 10);
    giveUp();
    release('a 40');
    await clock.advance(WAIT_MS);
    assert.deepEqual(names(), ['a 40', 'a 10']);
    assert.deepEqual(refused, []);
  });

  it('gives back what it turns out not to need, and all only once', () => {
    const { reservation, names, granted, budget } = createBudget();
    reservation('a', 40);
    reservation('a', 25);
    granted[0]?.reservation.resize(15);
    assert.deepEqual(names(), ['a 40', 'a 25']);
    assert.equal(budget.heldBytes, 40);
    granted[0]?.reservation.release();
    granted[0]?.reservation.release();
    granted[0]?.reservation.resize(1000);
    assert.equal(budget.heldBytes, 25);
  });

  it('of a smaller holder ends the oldest droppable reservation of the largest holder', () => {
    const { reservation, names, granted, budget, events } = createBudget();
    for (const [holder, bytes] of [
      ['a', 20],
      ['a', 19],
      ['b', 38],
      ['c', 20],
    ] as const) {
      reservation(holder, bytes);
    }
    const ended: string[] = [];
    for (const { what, reservation: given } of granted.slice(1)) {
      given.drop = () => {
        ended.push(what);
        given.release();
      };
    }
    reservation('d', 10);
    assert.deepEqual(ended, ['a 19']);
    reservation('e', 15);
    assert.deepEqual(ended, ['a 19', 'b 38']);
    assert.equal(budget.heldBytes, 65);
    assert.equal(events.dropped, 2);
    assert.equal(names().at(-1), 'e 15');
  });

  it('of a holder that would hold as much as the others waits', () => {
    const { reservation, names, granted, release } = createBudget(100, 50);
    reservation('a', 50);
    reservation('b', 45);
    for (const { reservation: given } of granted) given.drop = () => assert.fail('no holder has more');
    reservation('c', 50);
    assert.deepEqual(names(), ['a 50', 'b 45']);
    release('b 45');
    assert.deepEqual(names(), ['a 50', 'b 45', 'c 50']);
  });

  it('never makes the bytes held exceed a bound, nor is forgotten, whatever comes in whatever order', async () => {
    const action = fc.record({
      holder: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      bytes: fc.integer({ min: 1, max: 40 }),
      kind: fc.constantFrom('reservation', 'reservation', 'release', 'resize', 'wait'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
        const { budget, reservation, granted, refused, clock, names } = createBudget();
        let claimed = 0;
        for (const { holder, bytes, kind } of actions) {
          if (kind === 'reservation') {
            claimed += 1;
            reservation(holder, bytes, `${holder} ${claimed}`);
          } else if (kind === 'wait') {
            await clock.advance(bytes);
          } else {
            const given = granted[bytes % Math.max(1, granted.length)]?.reservation;
            if (kind === 'release') given?.release();
            else given?.resize(1);
          }
          assert.ok(budget.heldBytes <= 100);
        }
        await clock.advance(WAIT_MS);
        assert.equal(names().length + refused.length, claimed);
        for (const { reservation: given } of granted) given.release();
        assert.equal(budget.heldBytes, 0);
        assert.equal(clock.timers, 0);
      }),
      { numRuns: 200 },
    );
  });
});
