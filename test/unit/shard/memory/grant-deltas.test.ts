// Overlay and deltas: a read never covers a newer commit with an older row.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GrantDeltas } from '../../../../src/shard/memory/grant-deltas.ts';

const facts = (id: string) => ({ grantId: id, createdAtMs: 1 });
const change = (counterpart: string, id: string | null) => ({
  relation: 6,
  counterpart,
  facts: id === null ? null : facts(id),
});

test('a confirmation of an older seq does not remove a newer change', () => {
  const deltas = new GrantDeltas();
  deltas.commit('user:a', change('doc:1', 'g1'), 1);
  deltas.commit('user:a', change('doc:1', null), 2);
  deltas.confirm(1);
  assert.deepEqual(deltas.find('user:a', 6, 'doc:1')?.facts, null);
  assert.equal(deltas.open('user:a').changes().find(6, 'doc:1')?.facts, null);
  deltas.confirm(2);
  assert.equal(deltas.find('user:a', 6, 'doc:1'), undefined);
  assert.equal(deltas.unconfirmed, 0);
});

test('an open delta holds the overlay of its start and every later commit to its subject, confirmed or not', () => {
  const deltas = new GrantDeltas();
  deltas.commit('user:a', change('doc:1', 'g1'), 1);
  const delta = deltas.open('user:a');
  deltas.commit('user:a', change('doc:2', 'g2'), 2);
  deltas.commit('user:b', change('doc:3', 'g3'), 3);
  deltas.commit('user:a', change('doc:1', null), 4);
  deltas.confirm(4);
  assert.deepEqual([...delta.changes()], [change('doc:1', null), change('doc:2', 'g2')]);
  assert.equal(delta.changes().find(6, 'doc:3'), undefined);
  assert.ok(delta.size >= 2);
  // A read that starts now finds it all in the store.
  assert.deepEqual([...deltas.open('user:a').changes()], []);
});

test('a delta opened while nothing was unconfirmed holds every later commit, confirmed or not', () => {
  for (const before of [0, 3]) {
    const deltas = new GrantDeltas();
    for (let seq = 1; seq <= before; seq += 1) deltas.commit('user:a', change(`before:${seq}`, 'g'), seq);
    deltas.confirm(before);
    const delta = deltas.open('user:a');
    assert.equal(delta.size, 0);
    for (let seq = before + 1; seq <= before + 2000; seq += 1) {
      deltas.commit('user:a', change(`doc:${seq}`, `g${seq}`), seq);
      deltas.confirm(seq);
    }
    assert.equal([...delta.changes()].length, 2000);
    assert.equal([...deltas.open('user:a').changes()].length, 0);
  }
});

test('the relation is part of the tuple', () => {
  const deltas = new GrantDeltas();
  deltas.commit('user:a', change('doc:1', 'g1'), 1);
  assert.equal(deltas.find('user:a', 5, 'doc:1'), undefined);
});

test('the last commit to a tuple counts, over any number of commits and confirmations', () => {
  const deltas = new GrantDeltas();
  let confirmed = 0;
  for (let seq = 1; seq <= 5000; seq += 1) {
    deltas.commit('user:a', change('doc:1', seq % 3 === 0 ? null : `g${seq}`), seq);
    deltas.commit(`user:${seq}`, change('doc:1', `g${seq}`), seq);
    if (seq % 7 === 0) {
      confirmed = seq - 5;
      deltas.confirm(confirmed);
    }
    assert.deepEqual(deltas.find('user:a', 6, 'doc:1')?.facts, seq % 3 === 0 ? null : facts(`g${seq}`));
    assert.deepEqual([...deltas.open('user:a').changes()], [change('doc:1', seq % 3 === 0 ? null : `g${seq}`)]);
    const oldest = confirmed + 1;
    assert.deepEqual(deltas.find(`user:${oldest}`, 6, 'doc:1')?.facts, oldest > seq ? undefined : facts(`g${oldest}`));
    assert.ok(deltas.unconfirmed <= 2 * (seq - confirmed) + 256);
  }
  deltas.confirm(5000);
  assert.equal(deltas.unconfirmed, 0);
});

test('a single change of an entity, and one that replaces it, are found like those of many', () => {
  const deltas = new GrantDeltas();
  deltas.commit('doc:1', change('user:a', 'g1'), 1);
  assert.equal(deltas.find('doc:1', 6, 'user:a')?.facts?.grantId, 'g1');
  assert.equal(deltas.find('doc:1', 6, 'user:b'), undefined);
  deltas.commit('doc:1', change('user:a', null), 2);
  assert.deepEqual([...deltas.open('doc:1').changes()], [change('user:a', null)]);
  assert.equal(deltas.open('doc:1').size, 1);
  deltas.commit('doc:1', change('user:b', 'g2'), 3);
  assert.deepEqual([...deltas.open('doc:1').changes()], [change('user:a', null), change('user:b', 'g2')]);
  assert.equal(deltas.find('doc:1', 6, 'user:a')?.facts, null);
});
