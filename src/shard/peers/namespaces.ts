// The calls about the namespaces of a tenant.

import { assert } from '../../core/assert.ts';
import type { Namespace } from '../../core/tuples.ts';
import { decideNamespace } from '../log/write-decisions.ts';
import type { AnswerOf, WriteUnderHandle } from '../shard.ts';
import { under } from './grant-writes.ts';
import type { Listing } from './listings.ts';
import type { Peer } from './peer.ts';
import { readRules } from './rules.ts';

export async function listNamespaces(_: unknown, { memory }: Pick<Listing, 'memory'>): Promise<readonly Namespace[]> {
  using _namespaces = await memory.namespaces.pin();
  const names = [...memory.namespaces.rows].map(([name, { createdAtMs }]) => ({ name, createdAtMs }));
  return names.sort((left, right) => (left.name < right.name ? -1 : 1));
}

export async function unknownNamespaces(
  context: unknown,
  { memory }: Pick<Listing, 'memory'>,
  namespaces: readonly string[],
): Promise<readonly string[]> {
  using _namespaces = await memory.namespaces.pin();
  const unused = namespaces.filter((name) => !memory.namespaces.rows.has(name));
  if (unused.length === 0) return unused;
  const { rules, public: everyone } = await readRules(context, { memory });
  return unused.filter((name) => !everyone.includes(name) && !rules.some(({ namespace }) => namespace === name));
}

export async function createNamespace(
  peer: Peer,
  by: WriteUnderHandle,
  name: string,
): Promise<AnswerOf<'createNamespace'>> {
  const handle = peer.handles.use(by.handle);
  const { memory } = handle;
  using _namespaces = await memory.namespaces.pin();
  peer.handles.assertGood(handle);
  const decide = under(handle, decideNamespace(peer.shard, memory, name));
  const result = await peer.submit(handle, by.attempt, name.length, decide);
  assert(result.kind === 'namespace', 'a namespace operation has a namespace result');
  return { created: result.created, namespace: result.namespace };
}
