// Namespaces that a session knows are not asked about again; those that the tenant does not know are.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CALLS } from '../../../src/rpc/calls/table.ts';
import { contextFor, setStage } from './harness.ts';

test('a session asks its owner once about a namespace that the tenant has used, and again about others', async (t) => {
  const stage = await setStage(t);
  const session = await stage.session();
  const asked = () => stage.shard.counts.get('unknownNamespaces') ?? 0;
  await session.call(CALLS.createNamespace, contextFor(), 'doc');
  assert.deepEqual(await session.unknownNamespaces(contextFor(), ['doc', 'dco', 'dco']), ['dco']);
  assert.equal(session.unknownNamespaces(contextFor(), ['doc']), undefined);
  assert.equal(asked(), 1);
  assert.deepEqual(await session.unknownNamespaces(contextFor(), ['dco', 'doc']), ['dco']);
  await session.call(CALLS.createNamespace, contextFor(), 'dco');
  assert.deepEqual(await session.unknownNamespaces(contextFor(), ['dco']), []);
  assert.equal(session.unknownNamespaces(contextFor(), ['dco', 'doc']), undefined);
  assert.equal(asked(), 3);
});

test('what a session remembers is bounded', async (t) => {
  const stage = await setStage(t);
  const session = await stage.session();
  const names = Array.from({ length: 300 }, (_, index) => `n${index}`);
  for (const name of names) await session.call(CALLS.createNamespace, contextFor(), name);
  for (let from = 0; from < names.length; from += 100) {
    assert.deepEqual(await session.unknownNamespaces(contextFor(), names.slice(from, from + 100)), []);
  }
  assert.equal(session.unknownNamespaces(contextFor(), names.slice(-1)), undefined);
  const asked = stage.shard.counts.get('unknownNamespaces') ?? 0;
  assert.deepEqual(await session.unknownNamespaces(contextFor(), names.slice(0, 1)), []);
  assert.equal(stage.shard.counts.get('unknownNamespaces'), asked + 1, 'the first was given up');
});
