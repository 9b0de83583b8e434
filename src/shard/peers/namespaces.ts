// The calls about the namespaces of a tenant.

import { assert } from '../../core/assert.ts';
import { decideNamespace } from '../log/write-decisions.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import { under } from './grant-writes.ts';
import { type Handler, type ReadHandler, sizeOf } from './peer.ts';

/** A later answer tries again. */
const ignore = (): void => {};

export const listNamespaces: ReadHandler<'listNamespaces'> = async (_, { memory }) => {
  using _namespaces = await memory.namespaces.pin();
  const names = [...memory.namespaces.rows].map(([name, { createdAtMs }]) => ({ name, createdAtMs }));
  return names.sort((left, right) => (left.name < right.name ? -1 : 1));
};

/**
 * Those of the namespaces of which the tenant has no grant and no rule, and which were never created: a hint, from
 * memory. What is not there yet is read for later answers, and this one goes without.
 */
export function unknownNamespaces({ namespaces, rules, tenant }: TenantMemory, names: readonly string[]): string[] {
  const known = namespaces.loaded;
  if (known === undefined) {
    namespaces.pin().then((pin) => pin[Symbol.dispose](), ignore);
    return [];
  }
  const unused = names.filter((name) => !known.has(name));
  if (unused.length === 0 || tenant.rulesRevision === undefined) return unused;
  const named = rules.ready?.namespaces;
  if (named === undefined) rules.pin().then((pin) => pin[Symbol.dispose](), ignore);
  return named === undefined ? [] : unused.filter((name) => !named.has(name));
}

export const createNamespace: Handler<'createNamespace'> = async (peer, by, name) => {
  const handle = peer.handles.use(by.handle);
  const { memory } = handle;
  using _namespaces = await memory.namespaces.pin();
  peer.handles.assertGood(handle);
  const decide = under(handle, decideNamespace(peer.shard, memory, name));
  const result = await peer.submit(handle, by.attempt, sizeOf(name.length), decide);
  assert(result.kind === 'namespace', 'a namespace operation has a namespace result');
  return { created: result.created, namespace: result.namespace };
};
