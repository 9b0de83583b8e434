// The hint beside a denial or an empty listing: it comes with the answer of the owner and costs no call of its own.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestContext } from '../../../src/front/front.ts';
import { contextFor, setStage } from './harness.ts';

const tuple = (subject: string, object: string) => ({ subject, relation: 'viewer', object }) as const;

test('a denial says in the one answer which of its namespaces the tenant does not know', async (t) => {
  const stage = await setStage(t);
  const session = await stage.session();
  await session.call('createNamespace', contextFor(), 'doc');
  await session.call('createNamespace', contextFor(), 'user');
  const asked = (): number => [...stage.shard.counts.values()].reduce((sum, count) => sum + count, 0);
  const hintOf = async (ask: (context: RequestContext) => Promise<unknown>): Promise<readonly string[] | undefined> => {
    const context = contextFor();
    const before = asked();
    await ask(context);
    assert.equal(asked() - before, 1, 'the question is the only one');
    return context.unknownNamespaces;
  };
  const known = tuple('user:a', 'doc:1');
  const unknown = tuple('usr:a', 'dco:1');
  assert.equal(await hintOf((context) => session.check(context, known)), undefined);
  assert.deepEqual(await hintOf((context) => session.check(context, unknown)), ['usr', 'dco']);
  assert.deepEqual(await hintOf((context) => session.checkBulk(context, [known, unknown])), ['usr', 'dco']);
  assert.deepEqual(await hintOf((context) => session.explain(context, unknown)), ['usr', 'dco']);
  assert.deepEqual(await hintOf((context) => session.checkOrDeny(context, [unknown])), ['usr', 'dco']);
  const page = { limit: 10, cursor: undefined, direct: false };
  const listed = { ...page, subject: 'user:a', relation: 'viewer' as const, namespace: 'dco' };
  assert.deepEqual(await hintOf((context) => session.call('listObjects', context, listed)), ['dco']);
  const held = { ...page, object: 'dco:1', relation: 'viewer' as const, namespace: undefined, includeSelf: false };
  assert.deepEqual(await hintOf((context) => session.call('listHolders', context, held)), ['dco']);
  await session.call('createNamespace', contextFor(), 'dco');
  assert.deepEqual(await hintOf((context) => session.check(context, tuple('user:a', 'dco:1'))), undefined);
});

test('what is not in memory is no reason to wait: the answer goes without a hint, and a later one has it', async (t) => {
  const stage = await setStage(t);
  const session = await stage.session();
  const ask = async (): Promise<readonly string[] | undefined> => {
    const context = contextFor();
    await session.check(context, tuple('usr:a', 'dco:1'));
    return context.unknownNamespaces;
  };
  assert.equal(await ask(), undefined);
  let hint: readonly string[] | undefined;
  while (hint === undefined) hint = await ask();
  assert.deepEqual(hint, ['usr', 'dco']);
});
