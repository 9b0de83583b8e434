// What is known of a watched tuple stays known, whatever a page has forgotten.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GrantPage } from '../../../../src/shard/memory/grant-page.ts';
import { takeFrom, WatchedTuples } from '../../../../src/shard/memory/watched-tuples.ts';

const FACTS = { grantId: 'grt_1', createdAtMs: 1 };
const VIEWER = 6;

test('a page that knows nothing of a tuple takes nothing away from it', () => {
  for (const facts of [FACTS, null, undefined]) {
    const tuple = new WatchedTuples().watch('user:a', VIEWER, 'doc:1');
    tuple.facts = facts;
    takeFrom(new GrantPage('user:a', false, () => {}), tuple);
    assert.equal(tuple.facts, facts);
  }
});

test('a published change of a tuple overrides what a page said', () => {
  const watched = new WatchedTuples();
  const tuple = watched.watch('user:a', VIEWER, 'doc:1');
  const page = new GrantPage('user:a', true, () => {});
  page.set(VIEWER, 'doc:1', FACTS);
  watched.commit('user:a', VIEWER, 'doc:1', null);
  takeFrom(page, tuple);
  assert.equal(tuple.facts, null);
});

test('a subject is known to have a grant only while a live one is known', () => {
  for (const whole of [true, false]) {
    const page = new GrantPage('user:a', whole, () => {});
    assert.equal(page.holdsSome, false);
    page.set(VIEWER, 'doc:1', null);
    assert.equal(page.holdsSome, false);
    page.set(VIEWER, 'doc:2', FACTS);
    assert.equal(page.holdsSome, true);
    page.set(VIEWER, 'doc:2', null);
    assert.equal(page.holdsSome, false);
  }
  // A sparse one that has forgotten it does not know any more.
  const page = new GrantPage('user:a', false, () => {});
  page.set(VIEWER, 'doc:1', FACTS);
  page.age(2);
  assert.equal(page.holdsSome, true);
  page.set(VIEWER, 'doc:2', null);
  page.age(2);
  assert.equal(page.holdsSome, false);
});
