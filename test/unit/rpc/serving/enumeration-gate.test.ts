// How many enumerations run at once, for all peers and for one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EnumerationGate } from '../../../../src/rpc/serving/enumeration-gate.ts';

/** A peer that asks for enumerations, which start and never end by themselves. */
function createPeer(gate: EnumerationGate, started: string[], name: string) {
  const peer = { takes: true };
  const share = gate.connect(() => peer.takes);
  return Object.assign(peer, share, {
    ask(count: number): void {
      for (let index = 0; index < count; index += 1) share.enter(() => started.push(name));
    },
  });
}

const countOf = (started: readonly string[], name: string): number => started.filter((each) => each === name).length;

test('one peer runs eight at once, all peers thirty-two, and those that wait take turns', () => {
  const gate = new EnumerationGate();
  const started: string[] = [];
  const peers = Array.from({ length: 6 }, (_, index) => createPeer(gate, started, `peer ${index}`));
  for (const peer of peers) peer.ask(5000);
  assert.deepEqual(
    peers.map((_, index) => countOf(started, `peer ${index}`)),
    [8, 8, 8, 8, 0, 0],
  );
  for (let count = 0; count < 4; count += 1) peers[0]?.end();
  assert.deepEqual(started.slice(32), ['peer 0', 'peer 4', 'peer 5', 'peer 0']);
});

test('nothing starts for a peer that does not take its replies, until it does', () => {
  const gate = new EnumerationGate();
  const started: string[] = [];
  const peer = createPeer(gate, started, 'slow');
  peer.takes = false;
  peer.ask(3);
  createPeer(gate, started, 'other').ask(1);
  assert.deepEqual(started, ['other']);
  peer.takes = true;
  peer.resume();
  assert.deepEqual(started, ['other', 'slow', 'slow', 'slow']);
});

test('a peer that has gone gives its places to others, and starts nothing more', () => {
  const gate = new EnumerationGate();
  const started: string[] = [];
  const gone = Array.from({ length: 4 }, (_, index) => createPeer(gate, started, `gone ${index}`));
  for (const peer of gone) peer.ask(100);
  const other = createPeer(gate, started, 'other');
  other.ask(10);
  assert.equal(countOf(started, 'other'), 0);
  gone[0]?.close();
  // What it had started may still end.
  gone[0]?.end();
  assert.deepEqual([started.length, countOf(started, 'other')], [40, 8]);
  other.end();
  assert.deepEqual([started.length, countOf(started, 'other')], [41, 9]);
});
