// Those who wait for an owner to serve again, on virtual time.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RetryGate, type Route, type Waiter } from '../../../../src/front/links/routing-table.ts';
import { served } from '../../../../src/front/requests/flights.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';

/** The gate only compares routes. */
const route = (slot: number) => ({ slot, epoch: 1 }) as unknown as Route;

function createGate() {
  const clock = new VirtualClock();
  const gate = new RetryGate({ clock, random: { bytes: (length) => new Uint8Array(length) } });
  const tried: string[] = [];
  const waiter = (name: string, onAttempt: (self: Waiter) => void = () => {}): Waiter & { settled: boolean } => {
    const self = {
      settled: false,
      probing: undefined,
      attempt: () => {
        tried.push(name);
        onAttempt(self);
      },
    };
    return self;
  };
  return { clock, gate, tried, waiter };
}

test('one at a time asks, at a growing pace up to ten a second, in turn', async () => {
  const { clock, gate, tried, waiter } = createGate();
  const only = route(0);
  for (const name of ['a', 'b', 'c'])
    gate.wait(
      only,
      waiter(name, (self) => gate.wait(only, self)),
    );
  await clock.advance(1000);
  assert.deepEqual(tried.slice(0, 4), ['a', 'b', 'c', 'a']);
  assert.ok(tried.length >= 9 && tried.length <= 13, `${tried.length}`);
});

test('all go on once the one that asked was served, and no later than that', async () => {
  const { clock, gate, tried, waiter } = createGate();
  const [near, far] = [route(0), route(1)];
  let first: Waiter | undefined;
  gate.wait(
    near,
    waiter('first', (self) => {
      first = self;
    }),
  );
  for (const name of ['b', 'c']) gate.wait(near, waiter(name));
  gate.wait(
    far,
    waiter('other', (self) => gate.wait(far, self)),
  );
  await clock.advance(15);
  assert.deepEqual(tried, ['first', 'other']);
  assert.ok(first);
  served(first);
  assert.deepEqual(tried, ['first', 'other', 'b', 'c']);
  // Its word counts once.
  gate.wait(near, waiter('late'));
  served(first);
  assert.ok(!tried.includes('late'));
});

test('opening a route lets all of it go on at once and leaves no timer behind', async () => {
  const { clock, gate, tried, waiter } = createGate();
  const [near, far] = [route(0), route(1)];
  gate.wait(near, waiter('a'));
  gate.wait(near, waiter('b'));
  gate.wait(far, waiter('c'));
  gate.openWhere((each) => each === near);
  assert.deepEqual(tried, ['a', 'b']);
  gate.open(far);
  assert.deepEqual(tried, ['a', 'b', 'c']);
  await clock.advance(1000);
  assert.equal(tried.length, 3);
  assert.equal(clock.timers, 0);
});

test('whoever gave up is let go soon, without a turn of its own', async () => {
  const { clock, gate, tried, waiter } = createGate();
  const only = route(0);
  const gone = Array.from({ length: 100 }, (_, index) => waiter(`gone-${index}`));
  for (const each of gone) gate.wait(only, each);
  gate.wait(only, waiter('last'));
  for (const each of gone) each.settled = true;
  await clock.advance(20);
  assert.equal(tried.length, 101, 'each was told once');
  assert.equal(tried.at(-1), 'last');
});
